// SPDX-License-Identifier: Apache-2.0
// promoted_from_registers.hpp  The main loop of 8-bit floats with promotion and A in registers: the
//                              sum of each K block is added in float32 (problem/precision.hpp).
#pragma once

#include "tilewright/kernel/sm90/mainloop/stages.hpp"
#include "tilewright/kernel/sm90/register_a.hpp"

namespace tw {

template <gemm_config C>
struct gemm_mainloop<C, mainloop_kind::promoted_from_registers> : mainloop_stages<C> {
  using base = mainloop_stages<C>;
  static_assert(C.promoted_n() == C.tile_n && C.promote_k() == base::tile_k);

  template <class Smem, class Issued>
  TW_DEVICE static void run(gemm_params const&, Smem& s, ring<C.stages>& slot,
                            consumer_part const& part, sums_of<C, C.tile_n>& acc,
                            Issued const& issued) {
    // Prologue.
    base::clear(acc);           // (64, tile_n)
    sums_of<C, C.tile_n> sums;  // (64, tile_n): wgmma's
    register_a<C> const from(part.first_row);
    typename register_a<C>::block a;  // (64, tile_k)

    // Loop.
    TW_NO_UNROLL
    for (int k = 0; k < part.blocks; ++k, slot.next()) {
      s.ab_landed[slot.stage].wait(slot.phase);
      from.read(a, s.a[slot.stage]);                                // (64, tile_k)
      register_a<C>::multiply(sums[0], a, s.b[slot.stage], false);  // (64, tile_n)
      if (k + 1 == part.blocks) issued.notify();
      base::template wait<0>(sums);
      warp_sync();  // all lanes have read A
      base::release(s, slot.stage);
      TW_UNROLL
      for (int e = 0; e < sums[0].size; ++e) acc[0][e] += sums[0][e];
    }

    // Tail: without a block none was the last.
    if (part.blocks == 0) issued.notify();
  }
};

}  // namespace tw
