// SPDX-License-Identifier: Apache-2.0
// from_registers.hpp  The main loop with A in registers: a warpgroup reads its rows of a K block
//                     from shared memory while the tensor cores multiply the block before it.
//                     wgmma adds to the sums of all K.
#pragma once

#include "tilewright/kernel/sm90/mainloop/stages.hpp"
#include "tilewright/kernel/sm90/register_a.hpp"
#include "tilewright/kernel/sm90/weights_a.hpp"

namespace tw {

template <gemm_config C>
struct gemm_mainloop<C, mainloop_kind::from_registers> : mainloop_stages<C> {
  using base = mainloop_stages<C>;

  template <class Smem, class Issued>
  TW_DEVICE static void run(gemm_params const&, Smem& s, ring<C.stages>& slot,
                            consumer_part const& part, sums_of<C, C.tile_n>& acc,
                            Issued const& issued) {
    a_reader<C> const from(part.first_row);
    if constexpr (!C.decodes_ahead()) {
      one_block(s, slot, part, acc, issued, from);
      return;
    }
    typename register_a<C>::block even, odd;  // (64, tile_k): K blocks of even and of odd numbers

    // Prologue: the first block does not read the accumulators.
    s.ab_landed[slot.stage].wait(slot.phase);
    from.read(even, s.a[slot.stage]);                               // (64, tile_k)
    register_a<C>::multiply(acc[0], even, s.b[slot.stage], false);  // (64, tile_n)
    int held = slot.stage;  // the stage whose wgmma group may still be in flight
    base::next(slot);

    // Loop: the registers of one block are read while wgmma reads the others.
    auto const add_next = [&](auto& a) {
      s.ab_landed[slot.stage].wait(slot.phase);
      from.read(a, s.a[slot.stage]);                              // (64, tile_k)
      register_a<C>::multiply(acc[0], a, s.b[slot.stage], true);  // (64, tile_n)
      base::template wait<1>(acc);  // the group before this one has finished: its stage is free
      warp_sync();                  // all lanes have read A
      base::release(s, held);
      held = slot.stage;
      base::next(slot);
    };
    int k = 1;
    TW_NO_UNROLL
    for (; k + 1 < part.blocks; k += 2) {
      add_next(odd);
      add_next(even);
    }
    if (k < part.blocks) add_next(odd);

    // Tail.
    issued.notify();
    base::template wait<0>(acc);
    warp_sync();
    base::release(s, held);
  }

 private:
  /// The loop of kernels whose threads have registers for one K block of A. A consumer decodes a
  /// block only after its wgmmas of the block before have finished. During the decode the tensor
  /// cores run wgmmas of other consumers (docs/decisions/0091).
  template <class Smem, class Issued>
  TW_DEVICE static void one_block(Smem& s, ring<C.stages>& slot, consumer_part const& part,
                                  sums_of<C, C.tile_n>& acc, Issued const& issued,
                                  a_reader<C> const& from) {
    typename register_a<C>::block a;  // (64, tile_k)
    auto const add_next = [&](bool accumulate) {
      s.ab_landed[slot.stage].wait(slot.phase);
      register_a<C>::template decode_and_multiply<a_reader<C>>(
          acc[0], a, from.load(s.a[slot.stage]), s.b[slot.stage], accumulate);  // (64, tile_n)
      base::template wait<0>(acc);
      warp_sync();  // all lanes have read A
      base::release(s, slot.stage);
      base::next(slot);
    };
    add_next(false);
    TW_NO_UNROLL
    for (int k = 1; k < part.blocks; ++k) add_next(true);
    issued.notify();
  }
};

}  // namespace tw
