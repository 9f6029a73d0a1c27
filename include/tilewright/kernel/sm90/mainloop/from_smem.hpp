// SPDX-License-Identifier: Apache-2.0
// from_smem.hpp  The main loop with A and B in shared memory: wgmma adds to the sums of all K.
#pragma once

#include "tilewright/kernel/sm90/mainloop/stages.hpp"

namespace tw {

template <gemm_config C>
struct mainloop_from_smem : mainloop_stages<C> {
  using base = mainloop_stages<C>;
  using base::tile_k;

 protected:
  /// Sums: accumulators of any number of columns, (64, Cols) each, in float32, s32 or f16.
  template <class Smem, class Sums, class Issued>
  TW_DEVICE static void add_blocks(Smem& s, ring<C.stages>& slot, consumer_part const& part,
                                   Sums& acc, Issued const& issued) {
    constexpr bool may_be_empty = C.may_lack_blocks();
    int held = 0;  // the stage whose wgmma group may still be in flight

    // Prologue: the first block does not read the accumulators.
    if constexpr (may_be_empty) {
      base::clear(acc);
    } else {
      s.ab_landed[slot.stage].wait(slot.phase);
      base::template multiply<tile_k>(acc,              // (64, Cols) each
                                      s.a[slot.stage],  // (tile_m, tile_k)
                                      s.b[slot.stage],  // (tile_n, tile_k)
                                      part.first_row, 0, false);
      held = slot.stage;
      slot.next();
    }

    // Loop: one group is in flight while the next one is issued.
    TW_UNROLL_BY_2  // by 4, as nvcc does by itself, takes twice as long to compile
        for (int k = may_be_empty ? 0 : 1; k < part.blocks; ++k, slot.next()) {
      s.ab_landed[slot.stage].wait(slot.phase);
      base::template multiply<tile_k>(acc,              // (64, Cols) each
                                      s.a[slot.stage],  // (tile_m, tile_k)
                                      s.b[slot.stage],  // (tile_n, tile_k)
                                      part.first_row, 0, true);
      base::template wait<1>(acc);  // the group before this one has finished: its stage is free
      if (k > 0) base::release(s, held);
      held = slot.stage;
    }

    // Tail.
    issued.notify();
    base::template wait<0>(acc);
    if (!may_be_empty || part.blocks > 0) base::release(s, held);
  }
};

template <gemm_config C>
struct gemm_mainloop<C, mainloop_kind::from_smem> : mainloop_from_smem<C> {
  template <class Smem, class Issued>
  TW_DEVICE static void run(gemm_params const&, Smem& s, ring<C.stages>& slot,
                            consumer_part const& part, sums_of<C, C.tile_n>& acc,
                            Issued const& issued) {
    mainloop_from_smem<C>::add_blocks(s, slot, part, acc, issued);
  }
};

/// f16 operands with f16 sums: a register holds two sums.
template <gemm_config C>
struct gemm_mainloop<C, mainloop_kind::f16_sums> : mainloop_from_smem<C> {
  template <class Smem, class Issued>
  TW_DEVICE static void run(gemm_params const&, Smem& s, ring<C.stages>& slot,
                            consumer_part const& part, sums_of<C, C.tile_n>& acc,
                            Issued const& issued) {
    accumulator<C.tile_n, f16> pairs[C.fragments()];  // (64, tile_n) each
    mainloop_from_smem<C>::add_blocks(s, slot, part, pairs, issued);
    widen_sums(acc, pairs);
  }
};

}  // namespace tw
