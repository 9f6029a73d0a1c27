// SPDX-License-Identifier: Apache-2.0
// plan.cpp  The model's formulas, and the choice of a path.
#include "tilewright/dist/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "dispatch/plan/gated.hpp"
#include "dist/call.hpp"
#include "dist/gathered.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/dist/gemm.hpp"
#include "tilewright/dist/path_table.hpp"
#include "tilewright/problem/accept.hpp"

namespace tw::dist {

std::string fastest_text(double us) {
  return fmt::format("the fastest that `tilewright tune --ranks` measured, {:.1f} us", us);
}

double exchanged_bytes(operation op, int ranks, double m, double n, double k, double elem_bytes) {
  return (ranks - 1.0) / ranks * m * (splits_k(op) ? n : k) * elem_bytes;
}

double network_bytes(operation op, int ranks, int hosts, double m, double n, double k,
                     double elem_bytes) {
  return (hosts - 1.0) / ranks * m * (splits_k(op) ? n : k) * elem_bytes;
}

double exchange_us(link_rates const& l, double bytes, int copies, double over_network_bytes) {
  double const inside = copies == 0 ? 0 : l.copy_us * copies + bytes / l.bytes_per_us;
  return std::max(inside, over_network_bytes / l.network_bytes_per_us);
}

double nccl_us(link_rates const& l, double bytes) {
  if (bytes == 0) return 0;
  return std::min(l.few_us + bytes / l.few_bytes_per_us, l.many_us + bytes / l.many_bytes_per_us);
}

double addition_us(link_rates const& l, int ranks, double rows, double cols, double partial_bytes,
                   double result_bytes) {
  return l.add_us + rows * cols * (ranks * partial_bytes + result_bytes) / l.add_bytes_per_us;
}

double unhidden_us(link_rates const& l, operation op, int ranks, double bytes, double exchange_us,
                   double addition_us) {
  if (ranks == 1) return 0;
  double const us = l.call_us + addition_us;
  if (op != operation::gemm_all_reduce) return us;
  return us + l.call_us + exchange_us + 2 * bytes / l.add_bytes_per_us;
}

double serial_us(double gemm_us, double exchange_us, double later_us) {
  return gemm_us + exchange_us + later_us;
}
double two_pieces_us(double own_us, double rest_us, double exchange_us, double later_us) {
  return std::max(own_us, exchange_us) + rest_us + later_us;
}
double pieces_us(int ranks, double piece_us, double exchange_us, double later_us) {
  return std::max(ranks * piece_us, exchange_us + piece_us) + later_us;
}

double gated_us(int ranks, double gemm_us, double waves, double exchange_us, double later_us) {
  double const last = gemm_us / std::clamp(waves, 1.0, static_cast<double>(ranks));
  return std::max(gemm_us, exchange_us + last) + later_us;
}
double direct_us(link_rates const& l, double gemm_us, double bytes) {
  return gemm_us + l.direct_us + bytes / l.direct_bytes_per_us;
}

double hidden_from(link_rates const& l, int ranks, int hosts, double flop_per_us,
                   double elem_bytes) {
  double const inside = (ranks - 1.0) / ranks * flop_per_us * elem_bytes / (2 * l.bytes_per_us);
  double const outside =
      (hosts - 1.0) * flop_per_us * elem_bytes / (2 * ranks * l.network_bytes_per_us);
  return std::max(inside, outside);
}

namespace {

void check_ranks(int ranks, int hosts) {
  if (ranks < 1 || ranks > 4096)
    throw rejected({"TW0903", "ranks of a plan", fmt::format("{}", ranks), "1 to 4096", ""});
  if (hosts < 1 || ranks % hosts != 0)
    throw rejected({"TW0903", "hosts of a plan", fmt::format("{}", hosts),
                    fmt::format("a divisor of the {} ranks", ranks), ""});
}

/// Operands of a plan; their addresses are never followed.
gemm_operands aligned_operands() {
  void* const aligned = reinterpret_cast<void*>(std::uintptr_t{0x100000});
  return {aligned, aligned, nullptr, aligned, aligned, std::int64_t{64} << 20};
}

/// The time of the rank's GEMM of that many rows.
double gemm_us_of(gemm_problem p, std::int64_t rows, device const& dev) {
  p.m = rows;
  if (computes_nothing(p)) return 0;
  return plan_gemm(p, aligned_operands(), dev).predicted_us;
}

/// Adds path::gated, or says which kernel lacks a gate.
void add_gated(group_plan& g, device const& dev) {
  if (splits_k(g.op) || g.ranks == 1 || g.hosts > 1 || computes_nothing(g.problem)) return;
  try {
    g.gated = plan_gated(g.problem, aligned_operands(), dev);
    if (g.whole.kernel != g.gated->kernel)
      g.no_gate = fmt::format("{}, {:.1f} us", g.whole.kernel, g.whole.predicted_us);
    double const gemm_us = g.gated->predicted_us;
    double const us = gated_us(g.ranks, gemm_us, g.gated->terms.waves, g.exchange_us, g.later_us);
    g.paths.push_back({path::gated, us, 2 * gemm_us >= us ? "GEMM" : "links"});
  } catch (rejected const& e) {
    g.no_gate = e.why().got;
  }
}

/// The addition of that many rows, of all ranks.
double sum_us(group_plan const& g, link_rates const& links, std::int64_t rows) {
  gemm_problem const& p = g.problem;
  return addition_us(links, g.ranks, static_cast<double>(rows), static_cast<double>(p.n),
                     size_bits(partial_type(p, false)) / 8.0, size_bits(p.d.type) / 8.0);
}

/// Adds path::direct if a call may take it.
void add_direct(group_plan& g, double elem_bytes, link_rates const& links) {
  bool const all_reduce = g.op == operation::gemm_all_reduce;
  double const line = static_cast<double>(splits_k(g.op) ? g.problem.n : g.problem.k) * elem_bytes;
  std::int64_t const own = (g.problem.m + g.ranks - 1) / g.ranks;
  auto const to_peer =
      static_cast<std::int64_t>(static_cast<double>(all_reduce ? g.problem.m : own) * line);
  bool const gate = splits_k(g.op) && g.problem.epilogue.gate != gating::none;
  bool const scales = !splits_k(g.op) && g.problem.scale_a && scales_travel(*g.problem.scale_a);
  if (g.ranks == 1 || g.hosts > 1 || gate || scales || !is_small(to_peer, g.ranks)) return;
  double const exchange = direct_us(links, 0, static_cast<double>(to_peer) * (g.ranks - 1));
  double const sum = splits_k(g.op) ? sum_us(g, links, all_reduce ? g.problem.m : own) : 0;
  g.paths.push_back(
      {path::direct, g.gemm_us + exchange + sum, g.gemm_us >= exchange + sum ? "GEMM" : "links"});
}

/// Adds the measured times of the call's paths, and returns the fastest of these paths.
std::optional<stored_path> add_measured(group_plan& g, device const& dev) {
  if (g.hosts > 1 || g.ranks == 1) return {};
  bool const split = splits_k(g.op);
  path_key const key{g.op,
                     g.ranks,
                     split ? partial_type(g.problem, false) : g.problem.a.type,
                     g.problem.m,
                     split ? g.problem.n : g.problem.k,
                     dev.name};
  std::optional<stored_path> fastest;
  for (stored_path const& x : measured_paths(key))
    for (path_time& t : g.paths)
      if (t.via == x.via) {
        t.measured_us = x.us;
        if (!fastest || x.us < fastest->us) fastest = x;
      }
  return fastest;
}

/// Chooses a path, and says why.
void choose(group_plan& g, device const& dev) {
  auto const fastest = add_measured(g, dev);
  if (fastest) {
    g.chosen = fastest->via, g.why = fastest_text(fastest->us);
    return;
  }
  constexpr double certain = 0.95;
  // Two pieces of two ranks are their pieces.
  auto const key = [&](path_time const& t) {
    bool const named_alone = t.via == path::gated,
               alike = t.via == path::two_pieces && g.ranks == 2;
    return std::pair(named_alone || alike, t.us);
  };
  auto const best = std::ranges::min_element(g.paths, {}, key);
  double const serial = g.paths.front().us;
  if (best->us <= certain * serial) g.chosen = best->via;
  g.why = g.ranks == 1 ? "one rank communicates with no other"
          : g.chosen != path::serial
              ? fmt::format("{:.2f} times as fast as serial", serial / best->us)
          : best->via == path::serial
              ? "launches of pieces take longer than they hide"
              : fmt::format("{} is predicted to be {:.1f} % faster, less than the model's error",
                            name(best->via), 100 * (serial / best->us - 1));
}

/// Times and the choice; the steps are left.
group_plan plan_times(operation op, gemm_problem const& p, int ranks, device const& dev,
                      link_rates const& links, int hosts, bool peers_write) {
  group_plan g;
  g.op = op, g.ranks = ranks, g.hosts = hosts, g.problem = p, g.peers_write = peers_write;
  g.device_id = dev.id, g.device_name = dev.name;
  if (!computes_nothing(p)) g.whole = plan_gemm(p, aligned_operands(), dev);
  g.gemm_us = g.whole.predicted_us;
  std::int64_t const own = (p.m + ranks - 1) / ranks;
  g.own_us = gemm_us_of(p, own, dev), g.rest_us = gemm_us_of(p, p.m - own, dev);
  auto const m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  double const elem_bytes = size_bits(splits_k(op) ? partial_type(p, false) : p.a.type) / 8.0;
  g.bytes = exchanged_bytes(op, ranks, m, n, k, elem_bytes);
  g.over_network_bytes = network_bytes(op, ranks, hosts, m, n, k, elem_bytes);
  g.exchange_us = exchange_us(links, g.bytes, ranks - 1, g.over_network_bytes);
  double const received = (op == operation::gemm_all_reduce ? 2 : 1) * g.bytes;
  g.nccl_us = std::max(nccl_us(links, received), g.over_network_bytes / links.network_bytes_per_us);
  if (splits_k(op) && ranks > 1) g.addition_us = sum_us(g, links, own);
  g.later_us = unhidden_us(links, op, ranks, g.bytes, g.exchange_us, g.addition_us);
  // With equal bits on every path, partial results are copied on this one too.
  bool const by_copies = splits_k(op) && p.reproducible;
  double const serial = by_copies ? serial_us(g.gemm_us, g.exchange_us, g.later_us)
                                  : serial_us(g.gemm_us, g.nccl_us, 0);
  double const flop_per_us = g.gemm_us == 0 ? 0 : 2 * m * n * k / g.gemm_us;
  g.hidden_from = hidden_from(links, ranks, hosts, flop_per_us, elem_bytes);
  bool const network = g.over_network_bytes / links.network_bytes_per_us >= g.exchange_us;
  std::string const wires = ranks > 1 && hosts > 1 && network ? "network" : "links";
  auto const path_of_model = [&](path via, double gemm_us, double us) {
    return path_time{via, us, 2 * gemm_us >= us ? std::string("GEMM") : wires};
  };
  if (!peers_write && ranks > 1) {
    g.exchange_us = g.nccl_us = g.later_us = g.hidden_from =
        std::numeric_limits<double>::quiet_NaN();
    g.paths = {{path::serial, g.exchange_us, "NCCL"}};
    g.why =
        "the GPUs do not write each other's memory (no P2P): NCCL exchanges by host memory, in a "
        "time that the model does not know";
    return g;
  }
  g.paths = {path_of_model(path::serial, g.gemm_us, serial),
             path_of_model(path::two_pieces, g.own_us + g.rest_us,
                           two_pieces_us(g.own_us, g.rest_us, g.exchange_us, g.later_us)),
             path_of_model(path::pieces, ranks * g.own_us,
                           pieces_us(ranks, g.own_us, g.exchange_us, g.later_us))};
  add_direct(g, elem_bytes, links);
  add_gated(g, dev);
  choose(g, dev);
  return g;
}

}  // namespace

group_plan plan_over_ranks(operation op, gemm_problem const& p, int ranks, device const& dev,
                           link_rates const& links, int hosts, bool peers_write) {
  check_ranks(ranks, hosts);
  group_plan g = plan_times(op, p, ranks, dev, links, hosts, peers_write);
  g.by_nccl = !peers_write && ranks > 1;
  if (ranks > max_ranks) return g;
  g.rows = shards::even(p.m, ranks);
  g.steps = steps_in_words(op, g.chosen, g.rows, g.rank, g.by_nccl);
  return g;
}

}  // namespace tw::dist
