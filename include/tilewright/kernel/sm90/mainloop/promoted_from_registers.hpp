// SPDX-License-Identifier: Apache-2.0
// promoted_from_registers.hpp  The main loop of 8-bit floats with promotion and A in registers: the
//                              sum of each K block is added in float32 (problem/precision.hpp).
#pragma once

#include "tilewright/kernel/sm90/mainloop/stages.hpp"
#include "tilewright/kernel/sm90/register_a.hpp"
#include "tilewright/kernel/sm90/weights_a.hpp"

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
    if constexpr (C.weights()) {
      decode_and_add(s, slot, part, acc, sums, issued);
      return;
    }
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

 private:
  /// Prepared weights are decoded a K block ahead of wgmma; the sums of a K block are multiplied by
  /// the factors of their rows.
  template <class Smem, class Issued>
  TW_DEVICE static void decode_and_add(Smem& s, ring<C.stages>& slot, consumer_part const& part,
                                       sums_of<C, C.tile_n>& acc, sums_of<C, C.tile_n>& sums,
                                       Issued const& issued) {
    using reader = a_reader<C>;
    reader const from(part.first_row);
    if constexpr (!C.decodes_ahead()) {
      one_block(s, slot, part, acc, sums, issued, from);
      return;
    }
    typename reader::block even, odd;  // (64, tile_k): K blocks of even and of odd numbers
    typename reader::row_factors of_even, of_odd;
    auto const read = [&](auto& a, auto& factors, ring<C.stages> const& at) {
      s.ab_landed[at.stage].wait(at.phase);
      from.read(a, factors, s.a[at.stage]);
    };
    // Multiplies K block k, which was read, and reads the next one meanwhile.
    auto const add = [&](int k, auto const& a, auto const& factors, auto& next, auto& of_next) {
      register_a<C>::multiply(sums[0], a, s.b[slot.stage], false);  // (64, tile_n)
      int const held = slot.stage;
      base::next(slot);
      if (k + 1 == part.blocks)
        issued.notify();
      else
        read(next, of_next, slot);
      base::template wait<0>(sums);
      warp_sync();  // all lanes have read A
      base::release(s, held);
      TW_UNROLL
      for (int e = 0; e < sums[0].size; ++e)
        acc[0][e] = fmaf(sums[0][e], factors.of[e / 2 % 2], acc[0][e]);
    };
    read(even, of_even, slot);
    int k = 0;
    TW_NO_UNROLL
    for (; k + 1 < part.blocks; k += 2) {
      add(k, even, of_even, odd, of_odd);
      add(k + 1, odd, of_odd, even, of_even);
    }
    if (k < part.blocks) add(k, even, of_even, odd, of_odd);
  }

  /// The loop of kernels whose threads have registers for one K block of A. A consumer decodes a
  /// block only after its wgmmas of the block before have finished. During the decode the tensor
  /// cores run wgmmas of other consumers.
  template <class Smem, class Issued>
  TW_DEVICE static void one_block(Smem& s, ring<C.stages>& slot, consumer_part const& part,
                                  sums_of<C, C.tile_n>& acc, sums_of<C, C.tile_n>& sums,
                                  Issued const& issued, a_reader<C> const& from) {
    typename a_reader<C>::block a;  // (64, tile_k)
    typename a_reader<C>::row_factors factors;
    TW_NO_UNROLL
    for (int k = 0; k < part.blocks; ++k, base::next(slot)) {
      s.ab_landed[slot.stage].wait(slot.phase);
      register_a<C>::template decode_and_multiply<a_reader<C>>(
          sums[0], a, from.load(factors, s.a[slot.stage]), s.b[slot.stage], false);  // (64, tile_n)
      base::template wait<0>(sums);
      warp_sync();  // all lanes have read A
      base::release(s, slot.stage);
      TW_UNROLL
      for (int e = 0; e < sums[0].size; ++e)
        acc[0][e] = fmaf(sums[0][e], factors.of[e / 2 % 2], acc[0][e]);
    }
    issued.notify();
  }
};

}  // namespace tw
