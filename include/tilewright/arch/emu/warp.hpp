// SPDX-License-Identifier: Apache-2.0
// warp.hpp  The multiply of a warp (emulated). PTX ISA, "Matrix Fragments for mma.m16n8k16".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/emu/identity.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <elem E>
TW_DEVICE void mma_sync(float (&d)[4], b32<4> a, b32<2> b, emu::site where = emu::site::here()) {
  static_assert(E == elem::bf16 || E == elem::f16, "[TW0202] mma_sync multiplies bf16 or f16");
  std::uint32_t const mine[6] = {a.r[0], a.r[1], a.r[2], a.r[3], b.r[0], b.r[1]};
  emu::warp_words all;
  emu::exchange(mine, 6, "mma_sync", all, where);
  emu::multiply_16x8x16(E, all, d);
}

}  // namespace tw
