// SPDX-License-Identifier: Apache-2.0
// tile_c.hpp  How consumers bring C of a tile while the main loop runs: by TMA to the staging
//             buffers of D (epilogue/staged_c.hpp), or to L2 (prefetch_c.hpp).
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm90/epilogue/epilogue.hpp"
#include "tilewright/kernel/sm90/prefetch_c.hpp"
#include "tilewright/kernel/sm90/scheduler.hpp"

namespace tw {

/// Smem: shared memory with the members d and c.
template <gemm_config C>
struct tile_c {
  using scheduler = tile_scheduler<C>;

  /// C by TMA, for a warpgroup's fragments of a tile.
  template <class Smem>
  TW_DEVICE static staged_c<C> staged(gemm_params const& p, Smem& s, int consumer,
                                      typename scheduler::tile const& tile, int first_row) {
    return {p,
            s.d,
            s.c,
            {s.d, consumer, thread_id_anew() % warpgroup_threads},
            scheduler::place_in_d(p, tile, first_row, 0)};
  }

  /// Begins to bring C of a tile: by TMA as far as there are buffers, the rest to L2.
  template <class Smem>
  TW_DEVICE static void begin(gemm_params const& p, Smem& s, int consumer,
                              typename scheduler::segment const& seg, int first_row) {
    if constexpr (C.loads_c()) {
      if (p.epilogue.c_by_tma != 0) {
        staged(p, s, consumer, scheduler::tile_of(p, seg), first_row).begin();
        if constexpr (c_buffers<C>::turns == 1) return;
      }
    }
    prefetch(p, seg);
  }

 private:
  /// By the threads that compute the tile.
  TW_DEVICE static void prefetch(gemm_params const& p, typename scheduler::segment const& seg) {
    constexpr int first = C.pingpong ? 0 : warpgroup_threads;  // thread of the CTA
    int const thread = C.pingpong ? thread_id() % warpgroup_threads : thread_id() - first;
    prefetch_c(p.epilogue, scheduler::tile_of(p, seg), C.tile_m, scheduler::cols_of_d(p), thread,
               C.pingpong ? warpgroup_threads : C.consumers() * warpgroup_threads);
  }
};

}  // namespace tw
