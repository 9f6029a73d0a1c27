// SPDX-License-Identifier: Apache-2.0
// narrow.hpp  The main loop of kernels whose launch chooses the columns of a tile, in steps of 8:
//             one copy of the loop of from_smem.hpp for each number of columns, because N is part
//             of the wgmma instruction (docs/decisions/0028).
#pragma once

#include "tilewright/kernel/sm90/mainloop/from_smem.hpp"

namespace tw {

template <gemm_config C>
struct gemm_mainloop<C, mainloop_kind::narrow> : mainloop_from_smem<C> {
  using base = mainloop_from_smem<C>;

  template <class Smem, class Issued>
  TW_DEVICE static void run(gemm_params const& p, Smem& s, ring<C.stages>& slot,
                            consumer_part const& part, sums_of<C, C.tile_n>& acc,
                            Issued const& issued) {
    run_at_most<C.tile_n>(p, s, slot, part, acc, issued);
  }

 private:
  /// For p.tile_cols columns, Cols or fewer. acc is 0 in the columns after them.
  template <int Cols, class Smem, class Issued>
  TW_DEVICE static void run_at_most(gemm_params const& p, Smem& s, ring<C.stages>& slot,
                                    consumer_part const& part, sums_of<C, C.tile_n>& acc,
                                    Issued const& issued) {
    if (Cols == C.min_tile_n || p.tile_cols == Cols) {
      sums_of<C, Cols> narrow;  // (64, Cols) each
      base::add_blocks(s, slot, part, narrow, issued);
      unrolled<base::fragments>([&](auto f) {
        TW_UNROLL
        for (int i = 0; i < acc[f].size; ++i) acc[f][i] = i < narrow[f].size ? narrow[f][i] : 0;
      });
    } else if constexpr (Cols > C.min_tile_n) {
      run_at_most<Cols - wgmma_n_step>(p, s, slot, part, acc, issued);
    }
  }
};

}  // namespace tw
