// SPDX-License-Identifier: Apache-2.0
// gate.hpp  A gate before the loads of a GEMM whose rows of A arrive from other ranks while it
//           runs: a policy that the kernel takes as a type, as it takes a profile.
//
// The tiles begin with the first one that has rows of this rank, go down the rows and around: rank
// r + i sends at step i, so that this is the order in which rows arrive. Before the first load of a
// tile the loading thread waits for the ranks that have rows of it. The rank's rows are loaded from
// the memory of the caller, by another map, if all rows of a load are among them.
//
// With no_gate the compiler discards all of it: the machine code does not change.
#pragma once

#include "tilewright/kernel/ranks/wait.hpp"
#include "tilewright/kernel/sm90/params.hpp"
#include "tilewright/pipeline/work.hpp"

namespace tw {

struct no_gate {
  static constexpr bool waits = false;
  template <class Params>
  using params = Params;
  template <class Scheduler>
  using tiles = typename Scheduler::work;
};

struct gate_params {
  ranks_view at;
  int first_row[arena_ranks + 1];  // rank r has the rows [first_row[r], first_row[r + 1]) of A
  int first_tile;                  // the cluster tile to begin with
  // The rank's clusters in the launch, which may have other ranks (kernel/ranks/divided.hpp).
  int first_cluster, clusters;
  int own_begin, own_end;        // rows that own_a has, at their number among all
  tensor_map own_a, own_a_edge;  // as gemm_params::a and a_edge
};

/// The steps of a thread at a gate; tools/check/mutants has faulty ones.
struct gate_steps {
  TW_DEVICE static bool wait(rank_wait const& w, int rank) { return w.run_alone(rank); }
  /// Copies were made by a copy engine: TMA, which is of another proxy, may read them afterwards.
  TW_DEVICE static void let_tma_see() { fence_proxy_async_global(); }
};

template <class Steps>
struct shard_gate_of {
  static constexpr bool waits = true;
  template <class Params>
  struct params : Params {
    gate_params gate;
  };
  template <class>
  using tiles = tiles_from;

  template <class Params>
  TW_DEVICE explicit shard_gate_of(Params const& p)
      : p_(p.gate),
        left_(((1U << p.gate.at.ranks) - 1) & ~(1U << p.gate.at.rank)) {}

  /// Returns when the rows of A of a tile of D have arrived, or the group is broken: then the GEMM
  /// goes on with old data. Rows [first_row, first_row + rows) and columns of D.
  TW_DEVICE void open(int first_row, int rows, int first_col, int cols) {
    for (int r = 0; r < p_.at.ranks; ++r)
      if (p_.first_row[r] < first_row + rows && first_row < p_.first_row[r + 1] &&
          (left_ >> r & 1) != 0)
        wait(r, {rank_act::gemm, first_row, rows, rank_waiter::gate, 0, 0, first_col, cols});
  }
  /// Waits for every other rank, with or without rows in this call. When a
  /// rank ends a call, all peers have therefore ended the previous call (dist/group.hpp).
  TW_DEVICE void finish() {
    for (int r = 0; r < p_.at.ranks; ++r)
      if ((left_ >> r & 1) != 0)
        wait(r, {rank_act::gemm, p_.first_row[r], p_.first_row[r + 1] - p_.first_row[r],
                 rank_waiter::gate});
  }

  /// Are rows [first, first + count) in the memory of the caller?
  TW_DEVICE bool has_own(int first, int count) const {
    return p_.own_begin <= first && first + count <= p_.own_end;
  }

 private:
  TW_DEVICE void wait(int r, wait_place const& place) {
    rank_wait const w =
        rank_wait::of(p_.at, 0, rank_flag::sent, place, p_.at.heads[p_.at.rank]->outgoing.value);
    if (!Steps::wait(w, r)) left_ = 0;
    Steps::let_tma_see();
    left_ &= ~(1U << r);
  }

  gate_params const& p_;
  std::uint32_t left_;  // bit r: rank r is not known to have sent
};
using shard_gate = shard_gate_of<gate_steps>;

}  // namespace tw
