// SPDX-License-Identifier: Apache-2.0
// promoted.hpp  The main loop of 8-bit floats with promotion, A and B in shared memory: every
//               promote_k() elements of K wgmma begins another sum, which is added in float32
//               (problem/precision.hpp). Each warpgroup waits for its wgmmas before it adds;
//               meanwhile the tensor cores multiply for the other warpgroups.
#pragma once

#include "tilewright/kernel/sm90/mainloop/stages.hpp"

namespace tw {

template <gemm_config C>
struct gemm_mainloop<C, mainloop_kind::promoted> : mainloop_stages<C> {
  using base = mainloop_stages<C>;
  static constexpr int part_n = C.promoted_n(), part_k = C.promote_k();
  static constexpr int parts_n = C.tile_n / part_n, parts_k = base::tile_k / part_k;

  template <class Smem, class Issued>
  TW_DEVICE static void run(gemm_params const&, Smem& s, ring<C.stages>& slot,
                            consumer_part const& part, sums_of<C, C.tile_n>& acc,
                            Issued const& issued) {
    // Prologue.
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
          constexpr bool last = n + 1 == parts_n && i + 1 == parts_k;
          base::template multiply<part_k>(sums,             // (64, part_n) each
                                          s.a[slot.stage],  // (tile_m, tile_k)
                                          s.b[slot.stage],  // (tile_n, tile_k)
                                          part.first_row, i * part_k, false, n * part_n);
          if (last && k + 1 == part.blocks) issued.notify();
          base::template wait<0>(sums);
          if constexpr (last) base::release(s, slot.stage);
          add(acc, sums, n * part_n / 2);  // (64, tile_n) += (64, part_n)
        });
      });
    }

    // Tail: without a block none was the last.
    if (part.blocks == 0) issued.notify();
  }

 private:
  /// Registers of `to`, from `first` on, += from.
  template <class To, class From>
  TW_DEVICE static void add(To& to, From& from, int first) {
    unrolled<base::fragments>([&](auto f) {
      TW_UNROLL
      for (int e = 0; e < from[f].size; ++e) to[f][first + e] += from[f][e];
    });
  }
};

}  // namespace tw
