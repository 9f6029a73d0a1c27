// SPDX-License-Identifier: Apache-2.0
// fragments_in_turn.hpp  The main loop of 8-bit floats with promotion, for consumers of two
//                        fragments: the sums of a K block are added in float32, of one fragment at
//                        a time, with or without scales (../block_scales.hpp). Both fragments use
//                        one accumulator of wgmma, so that a tile of 256 x 128 fits in the
//                        registers of two warpgroups. While one warpgroup adds, the tensor cores
//                        multiply for the other.
//
// The time between two wgmma groups of a warpgroup has to be shorter than the other's group
// (docs/decisions/0048). So the descriptors are sums of loop-invariant ones, scales are loaded
// after the group has been issued, and the stage is freed and the next one queried before the last
// additions of a K block.
#pragma once

#include "tilewright/kernel/sm90/mainloop/stages.hpp"

namespace tw {

template <gemm_config C>
struct gemm_mainloop<C, mainloop_kind::fragments_in_turn> : mainloop_stages<C> {
  using base = mainloop_stages<C>;
  static constexpr scales_of_b of_b =
      C.sums == sum_form::scaled ? scales_of_b::blocks : scales_of_b::columns;

  template <class Smem, class Issued>
  TW_DEVICE static void run(gemm_params const& p, Smem& s, ring<C.stages>& slot,
                            consumer_part const& part, sums_of<C, C.tile_n>& acc,
                            Issued const& issued) {
    if constexpr (C.scaled())
      add_blocks(s, slot, part, acc, issued,
                 block_scales<C, of_b>(p, part.first_row, part.first_col));
    else
      add_blocks(s, slot, part, acc, issued, no_scales{p.m > 0 ? 1.0F : 0.0F});
  }

 private:
  template <class Smem, class Issued, class Scales>
  TW_DEVICE static void add_blocks(Smem& s, ring<C.stages>& slot, consumer_part const& part,
                                   sums_of<C, C.tile_n>& acc, Issued const& issued, Scales scales) {
    // Prologue.
    base::clear(acc);                         // (64, tile_n) each
    accumulator<C.tile_n, sum_type<C>> sums;  // (64, tile_n): wgmma's, of one fragment
    auto const descs = base::descs_of(s, part.first_row);
    std::uint32_t landed = 0;  // 1 if the next K block has; a bool would become a byte

    // Loop. With a scale for each column four K blocks in a turn spill.
    auto const add_block = [&](int k) {
      int const stage = slot.stage;
      if (landed == 0) s.ab_landed[stage].wait(slot.phase);
      slot.next();
      unrolled<C.fragments()>([&](auto at) {
        constexpr int f = at;
        constexpr bool last = f + 1 == C.fragments();
        base::template multiply_fragment<f>(sums, descs, stage);  // (64, tile_n)
        if (last && k + 1 == part.blocks) issued.notify();
        if constexpr (f == 0) scales.read(s, stage);  // while wgmma multiplies
        wgmma_wait<0>(sums);
        if constexpr (last) {
          base::release(s, stage);
          landed = k + 1 < part.blocks && s.ab_landed[slot.stage].try_wait(slot.phase) ? 1 : 0;
        }
        scales.template add<f>(acc[f], sums, 0);  // (64, tile_n) += scales * (64, tile_n)
      });
      scales.finish(s, stage);
    };
    if constexpr (C.sums == sum_form::scaled_columns) {
      TW_UNROLL_BY_2
      for (int k = 0; k < part.blocks; ++k) add_block(k);
    } else {
      TW_UNROLL_BY_4
      for (int k = 0; k < part.blocks; ++k) add_block(k);
    }

    // Tail: without a block none was the last.
    if (part.blocks == 0) issued.notify();
  }
};

}  // namespace tw
