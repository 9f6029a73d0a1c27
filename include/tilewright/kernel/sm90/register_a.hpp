// SPDX-License-Identifier: Apache-2.0
// register_a.hpp  A in registers: consumers read a tile that is MN-major in shared memory as
//                 fragments of wgmma, which cannot read 32-bit operands in that order itself.
//
// Thread t of a warpgroup holds four words of a fragment of 64 rows and 8 of K, those of
// fragment(t, v); PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk8".
// Law: fragment is layout_a of the atom (tests/atom)
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/loads.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {

/// (thread, register) -> m + 64 k, of 32-bit elements.
inline constexpr layout fragment_of_words =
    make_layout(make_layout(layout(4, wgmma_m), layout(8, 1), layout(4, 16)),
                make_layout(layout(2, 8), layout(2, 4 * wgmma_m)));

template <gemm_config C>
class register_a {
 public:
  static constexpr int steps = C.tile_k() / traits_of(C.ab).mma_k();
  /// A K block of a warpgroup's rows.
  struct block {
    b32<4> part[steps][C.fragments()];
  };

  /// For the rows from first_row of the CTA's tile.
  TW_DEVICE explicit register_a(int first_row) {
    int const thread = thread_id() % warpgroup_threads;
    unrolled<registers>([&](auto v) {
      int const at = offset<fragment_of_words>(thread, v);
      place_[v] = offset<tile>(first_row + at % wgmma_m, at / wgmma_m);
    });
  }

  /// Reads a K block from its stage.
  TW_DEVICE void read(block& to, std::byte const* stage) const {
    auto const* const words = reinterpret_cast<words::b32 const*>(stage);
    unrolled<steps>([&](auto step) {
      unrolled<C.fragments()>([&](auto f) {
        unrolled<registers>([&](auto v) {
          to.part[step][f].r[v] = words[place_[v] + step * next_step + f * next_fragment];
        });
      });
    });
  }

 private:
  using operand = typename gemm_loads<C>::operand_a;
  static constexpr layout tile = operand::layout_of(C.tile_m);  // (m, k) -> element
  static constexpr int registers = 4;
  // The swizzle repeats after 8 of K, and after a span of M.
  static constexpr int next_step = static_cast<int>(plain(tile)(0, traits_of(C.ab).mma_k())),
                       next_fragment = static_cast<int>(plain(tile)(wgmma_m % C.tile_m, 0));

  int place_[registers];
};

}  // namespace tw
