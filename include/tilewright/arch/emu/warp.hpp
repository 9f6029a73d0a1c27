// SPDX-License-Identifier: Apache-2.0
// warp.hpp  The multiply of a warp (emulated). PTX ISA, "Matrix Fragments for mma.m16n8k16",
//           "Matrix Fragments for mma.m16n8k8".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/emu/identity.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

namespace emu {

/// The words of A and B of all lanes, for one mma_sync.
template <int A, int B>
warp_words operands_of_warp(b32<A> const& a, b32<B> const& b, site where) {
  std::uint32_t mine[A + B];
  for (int i = 0; i < A; ++i) mine[i] = a.r[i];
  for (int i = 0; i < B; ++i) mine[A + i] = b.r[i];
  warp_words all;
  exchange(mine, A + B, "mma_sync", all, where);
  return all;
}

}  // namespace emu

template <elem E, int A, int B>
TW_DEVICE void mma_sync(float (&d)[4], b32<A> a, b32<B> b, emu::site where = emu::site::here()) {
  static_assert(A == 2 * B && B <= 2, "m16n8k16 or m16n8k8");
  static_assert(E == elem::bf16 || E == elem::f16, "[TW0202] mma_sync multiplies bf16 or f16");
  emu::multiply_16x8(E, elem::f32, 8 * B, emu::operands_of_warp(a, b, where), d);
}
template <elem E, int A, int B>
TW_DEVICE void mma_sync(b32<2>& d, b32<A> a, b32<B> b, emu::site where = emu::site::here()) {
  static_assert(A == 2 * B && B <= 2, "m16n8k16 or m16n8k8");
  static_assert(E == elem::f16, "[TW0202] mma_sync adds f16 sums of f16 operands");
  float sum[4];
  for (int i = 0; i < 4; ++i)
    sum[i] = to_float(f16{static_cast<std::uint16_t>(d.r[i / 2] >> 16 * (i % 2))});
  emu::multiply_16x8(E, elem::f16, 8 * B, emu::operands_of_warp(a, b, where), sum);
  for (int i = 0; i < 2; ++i)
    d.r[i] = to_f16(sum[2 * i]).bits | static_cast<std::uint32_t>(to_f16(sum[2 * i + 1]).bits)
                                           << 16;
}

}  // namespace tw
