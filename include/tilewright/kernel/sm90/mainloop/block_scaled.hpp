// SPDX-License-Identifier: Apache-2.0
// block_scaled.hpp  The main loop of 8-bit floats with scales of A and B for blocks of K: the sum
//                   of each K block is multiplied by its scales when it is added in float32
//                   (../block_scales.hpp). Of B a tile has one or two scales, or one for each
//                   column: the loop is compiled for both.
#pragma once

#include "tilewright/kernel/sm90/mainloop/stages.hpp"

namespace tw {

template <gemm_config C>
struct gemm_mainloop<C, mainloop_kind::block_scaled> : mainloop_stages<C> {
  using base = mainloop_stages<C>;
  static constexpr int part_n = C.promoted_n(), part_k = C.promote_k();
  static constexpr int parts_n = C.tile_n / part_n, parts_k = base::tile_k / part_k;

  template <class Smem, class Issued>
  TW_DEVICE static void run(gemm_params const& p, Smem& s, ring<C.stages>& slot,
                            consumer_part const& part, sums_of<C, C.tile_n>& acc,
                            Issued const& issued) {
    if (has_block_scales<C>(p))
      run_with<scales_of_b::blocks>(p, s, slot, part, acc, issued);
    else
      run_with<scales_of_b::columns>(p, s, slot, part, acc, issued);
  }

 private:
  template <scales_of_b B, class Smem, class Issued>
  TW_DEVICE static void run_with(gemm_params const& p, Smem& s, ring<C.stages>& slot,
                                 consumer_part const& part, sums_of<C, C.tile_n>& acc,
                                 Issued const& issued) {
    // Prologue.
    block_scales<C, B> scales(p, part.first_row, part.first_col);
    base::clear(acc);         // (64, tile_n) each
    sums_of<C, part_n> sums;  // (64, part_n) each: wgmma's

    // Loop.
    TW_NO_UNROLL
    for (int k = 0; k < part.blocks; ++k, slot.next()) {
      s.ab_landed[slot.stage].wait(slot.phase);
      unrolled<parts_n>([&](auto at_n) {
        constexpr int n = at_n;
        unrolled<parts_k>([&](auto at_k) {
          constexpr int i = at_k;
          constexpr bool first = n == 0 && i == 0, last = n + 1 == parts_n && i + 1 == parts_k;
          base::template multiply<part_k>(sums,             // (64, part_n) each
                                          s.a[slot.stage],  // (tile_m, tile_k)
                                          s.b[slot.stage],  // (tile_n, tile_k)
                                          part.first_row, i * part_k, false, n * part_n);
          if (last && k + 1 == part.blocks) issued.notify();
          if constexpr (first) scales.read(s, slot.stage);  // while wgmma multiplies
          base::template wait<0>(sums);
          if constexpr (last) base::release(s, slot.stage);
          scales.add(acc, sums, n * part_n / 2);  // (64, tile_n) += scales * (64, part_n)
        });
      });
      scales.finish(s, slot.stage);
    }

    // Tail: without a block none was the last.
    if (part.blocks == 0) issued.notify();
  }
};

}  // namespace tw
