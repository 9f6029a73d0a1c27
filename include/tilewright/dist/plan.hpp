// SPDX-License-Identifier: Apache-2.0
// plan.hpp  Predicted times of an operation on several GPUs, for each path, and which path to take.
//
// The model: T(rows) is the predicted time of one rank's GEMM of that many rows (plan_gemm), C the
// time of the communication: copies of v bytes in c copies take alpha c + v / B. Rows are divided
// evenly over P ranks.
//
//   path         time
//   serial       T(M) + N
//   two-pieces   max(T(M / P), C) + T(M - M / P) + L
//   pieces       max(P T(M / P), C + T(M / P)) + L
//   gated        max(G, C + G max(1 / P, 1 / W)) + L, all-gather alone
//   direct       T(M) + E, and the addition S of a sum
//
// N is the time of NCCL's collective. L is not hidden: the launches that begin a call and wait,
// the addition S of partial results, and of an all-reduce the exchange of the results, which
// begins after the sum. G is T(M) of the fastest kernel with a gate, on one SM less; W is the
// number of tiles of its busiest SM: the last rows that arrive are at least a tile. E is the time
// of the one launch that exchanges; of an all-reduce it sends all rows to each peer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/device/device.hpp"
#include "tilewright/dist/shards.hpp"
#include "tilewright/family/plan.hpp"

namespace tw::dist {

/// How fast a GPU sends, bytes per microsecond in each direction, and the time of a copy without
/// bytes in a queue of copies. The default was measured on two H200 with 18 NVLinks: copy engines
/// pushed 64 MB at 382 GB/s each way, 1 MB in 5 us. network: of one GPU to other hosts; 400 Gb/s,
/// not measured. The other times were fitted to the layers of tests/dist/measured_layers.hpp.
struct link_rates {
  double bytes_per_us = 390e3, copy_us = 3;
  double network_bytes_per_us = 50e3;
  double call_us = 7;  // launches that begin an exchange by copies and wait for it
  double direct_us = 3.5, direct_bytes_per_us = 125e3;  // of the launch of path::direct
  /// NCCL's collectives, with the launch before them: few bytes by one protocol, many by another.
  double few_us = 10, few_bytes_per_us = 120e3;
  double many_us = 25, many_bytes_per_us = 220e3;
  /// The launch that adds partial results: 50 MB (read and written) in 17 us, 201 MB in 58.
  double add_us = 3.7, add_bytes_per_us = 3.73e6;
  bool operator==(link_rates const&) const = default;
};

/// Bytes that each rank receives from its peers in one exchange: (P - 1) / P of A of an
/// all-gather, else of the partial results.
double exchanged_bytes(operation op, int ranks, double m, double n, double k, double elem_bytes);
/// Bytes of these over the network, if each of several hosts has an equal number of ranks:
/// every GPU fetches the shards of its place on the other hosts, (hosts - 1) / P of all, and passes
/// them on inside of its host.
double network_bytes(operation op, int ranks, int hosts, double m, double n, double k,
                     double elem_bytes);
/// C of the model.
double exchange_us(link_rates const& l, double bytes, int copies, double over_network_bytes);
/// N of the model, for bytes that a rank receives; an all-reduce receives twice exchanged_bytes().
double nccl_us(link_rates const& l, double bytes);
/// S of the model: `ranks` partial results of rows x cols elements of `partial_bytes` are read, and
/// their sum is written with `result_bytes` an element.
double addition_us(link_rates const& l, int ranks, double rows, double cols, double partial_bytes,
                   double result_bytes);

/// L of the model: the launches of a call, the addition, and of an all-reduce the exchange of the
/// results, as long as the one before, and their copy to D. 0 of one rank.
double unhidden_us(link_rates const& l, operation op, int ranks, double bytes, double exchange_us,
                   double addition_us);

/// Times of the model for one exchange of C = exchange_us, of serial of N; `later_us` is L.
double serial_us(double gemm_us, double exchange_us, double later_us);
double two_pieces_us(double own_us, double rest_us, double exchange_us, double later_us);
double pieces_us(int ranks, double piece_us, double exchange_us, double later_us);
double gated_us(int ranks, double gemm_us, double waves, double exchange_us, double later_us);
double direct_us(link_rates const& l, double gemm_us, double bytes);

/// From this N of a rank (all-gather) or K of a rank (reduce-scatter) on, the GEMM takes as long as
/// the exchange: (P - 1) / P F e / (2 B), with F in operations per us; over a network
/// (hosts - 1) F e / (2 P B).
double hidden_from(link_rates const& l, int ranks, int hosts, double flop_per_us,
                   double elem_bytes);

struct path_time {
  path via;
  double us;          // of the model; NaN: not known
  std::string limit;  // "GEMM", "links", "network" or "NCCL": which part is longest
  /// By `tilewright tune --ranks` on GPUs of the device's name (path_table.hpp).
  std::optional<double> measured_us = {};
};

struct group_plan {
  operation op;
  int ranks = 1, hosts = 1;
  std::string device_id, device_name;        // of the GPUs
  gemm_problem problem;                      // of one rank
  gemm_plan whole;                           // its GEMM in one launch
  double gemm_us = 0;                        // of `whole`
  double own_us = 0, rest_us = 0;            // of the largest shard, and of the other rows
  double bytes = 0, over_network_bytes = 0;  // of one exchange
  double exchange_us = 0, nccl_us = 0;       // C and N
  double addition_us = 0, later_us = 0;      // S of this rank's rows, and L
  double hidden_from = 0;
  std::vector<path_time> paths;    // that the call can take, in the order of `path`
  std::optional<gemm_plan> gated;  // its GEMM with a gate
  std::string no_gate;             // the kernel that is predicted to be fastest, if it lacks a gate
  bool peers_write = true;         // else NCCL's collectives alone: path::serial
  path chosen = path::serial;
  std::string why;  // one line
  shards rows;      // of each rank; none of more than max_ranks ranks
  int rank = 0;     // whose acts are in `steps`
  std::vector<std::string>
      steps;              // on the chosen path, in words; none of more than max_ranks ranks
  bool by_nccl = false;   // NCCL's collectives serve the chosen path
  bool of_group = false;  // of a call of a group (explain.hpp)

  /// nullptr: the call cannot take the path.
  path_time const* find(path via) const {
    for (path_time const& t : paths)
      if (t.via == via) return &t;
    return nullptr;
  }
  double us() const { return find(chosen)->us; }
};

/// Plans the GEMM of one rank (dist/gemm.hpp) on `ranks` GPUs like `dev`. The path that was
/// measured to be the fastest is chosen. Without a measurement another path than serial is chosen
/// if it is predicted to take at most 0.95 of the time, and gated in no case, as calls take it only
/// if it is named or was measured to be the fastest. peers_write: the GPUs write each other's
/// memory (P2P). If they do not, NCCL exchanges by host memory, and times with the exchange are
/// NaN.
/// Throws as plan_gemm(); TW0903 for ranks that are not 1 to 4096, or hosts that do not divide
/// them; TW0802 for a damaged table of paths.
group_plan plan_over_ranks(operation op, gemm_problem const& p, int ranks, device const& dev,
                           link_rates const& links = {}, int hosts = 1, bool peers_write = true);

/// The acts of rank `rank` in words, a line each: copies, waits, GEMMs and sums.
/// by_nccl: serial by NCCL's collectives.
std::vector<std::string> steps_in_words(operation op, path via, shards const& rows, int rank,
                                        bool by_nccl = false);

/// The plan in words, as `tilewright plan --ranks` prints it: lines.
std::string to_text(group_plan const& g);

}  // namespace tw::dist
