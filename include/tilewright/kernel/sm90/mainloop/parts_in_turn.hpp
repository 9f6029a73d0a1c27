// SPDX-License-Identifier: Apache-2.0
// parts_in_turn.hpp  The main loop of 8-bit floats with promotion, for consumers of one fragment
//                    that have registers for two accumulators of wgmma: while the sums of a K block
//                    are added in float32, times their scales (../block_scales.hpp), the tensor
//                    cores multiply the next one into the other accumulator.
//
// Loads are waited for, descriptors made and stages freed as in fragments_in_turn.hpp.
#pragma once

#include "tilewright/kernel/sm90/mainloop/stages.hpp"

namespace tw {

template <gemm_config C>
struct gemm_mainloop<C, mainloop_kind::parts_in_turn> : mainloop_stages<C> {
  using base = mainloop_stages<C>;
  using sums = accumulator<C.tile_n, sum_type<C>>;  // (64, tile_n): wgmma's, of a K block

  template <class Smem, class Issued>
  TW_DEVICE static void run(gemm_params const& p, Smem& s, ring<C.stages>& slot,
                            consumer_part const& part, sums_of<C, C.tile_n>& acc,
                            Issued const& issued) {
    if constexpr (!C.scaled()) {
      add_blocks(s, slot, part, acc, issued, no_scales{p.m > 0 ? 1.0F : 0.0F});
    } else if (has_block_scales<C>(p)) {
      add_blocks(s, slot, part, acc, issued,
                 block_scales<C, scales_of_b::blocks>(p, part.first_row, part.first_col));
    } else {
      add_blocks(s, slot, part, acc, issued,
                 block_scales<C, scales_of_b::columns>(p, part.first_row, part.first_col));
    }
  }

 private:
  template <class Smem, class Issued, class Scales>
  TW_DEVICE static void add_blocks(Smem& s, ring<C.stages>& slot, consumer_part const& part,
                                   sums_of<C, C.tile_n>& acc, Issued const& issued, Scales scales) {
    // Prologue.
    base::clear(acc);  // (64, tile_n)
    sums even, odd;    // of K blocks 0, 2, ... and 1, 3, ...
    auto const descs = base::descs_of(s, part.first_row);
    ring<C.stages> ahead = slot;  // of the K block that is multiplied next
    std::uint32_t landed = 0;     // 1 if it has; a bool would become a byte
    auto const multiply = [&](sums& of_block) {
      if (landed == 0) s.ab_landed[ahead.stage].wait(ahead.phase);
      base::template multiply_fragment<0>(of_block, descs, ahead.stage);  // (64, tile_n)
      ahead.next();
    };
    auto const add = [&](sums& of_block, auto pending, bool more) {
      int const stage = slot.stage;
      scales.read(s, stage);  // while wgmma multiplies
      wgmma_wait<pending>(of_block);
      base::release(s, stage);
      slot.next();
      landed = more && s.ab_landed[ahead.stage].try_wait(ahead.phase) ? 1 : 0;
      scales.template add<0>(acc[0], of_block, 0);  // (64, tile_n) += scales * (64, tile_n)
      scales.finish(s, stage);
    };
    if (part.blocks == 0) {
      issued.notify();
      return;
    }
    multiply(even);

    // Loop: a K block is in flight before each turn and after it.
    int k = 0;
    TW_NO_UNROLL
    for (; k + 2 < part.blocks; k += 2) {
      multiply(odd);
      add(even, constant<1>{}, true);
      multiply(even);
      add(odd, constant<1>{}, k + 3 < part.blocks);
    }

    // Tail: one K block or two are left.
    if (k + 1 < part.blocks) {
      multiply(odd);
      issued.notify();
      add(even, constant<1>{}, false);
      add(odd, constant<0>{}, false);
    } else {
      issued.notify();
      add(even, constant<0>{}, false);
    }
  }
};

}  // namespace tw
