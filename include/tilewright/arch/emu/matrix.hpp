// SPDX-License-Identifier: Apache-2.0
// matrix.hpp  8x8 matrices between registers and shared memory, and packing (emulated).
//             PTX ISA, "ldmatrix", "stmatrix", "cvt".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <int Count, bool Transposed = false>
TW_DEVICE void stmatrix(void* row, b32<Count> v, emu::site where = emu::site::here()) {
  emu::stmatrix(row, v.r, Count, Transposed, where);
}
template <int Count, bool Transposed = false>
TW_DEVICE b32<Count> ldmatrix(void const* row, emu::site where = emu::site::here()) {
  b32<Count> v;
  emu::ldmatrix(row, v.r, Count, Transposed, where);
  return v;
}

/// Two values rounded to nearest even, `lo` in bits 0-15. E: bf16 or f16.
template <elem E>
TW_DEVICE std::uint32_t pack2(float lo, float hi) {
  static_assert(E == elem::bf16 || E == elem::f16, "[TW0202] pack2 rounds to bf16 or f16");
  if constexpr (E == elem::bf16)
    return to_bf16(lo).bits | static_cast<std::uint32_t>(to_bf16(hi).bits) << 16;
  else
    return to_f16(lo).bits | static_cast<std::uint32_t>(to_f16(hi).bits) << 16;
}

/// The exact value of 16 bits. E: bf16 or f16.
template <elem E>
TW_DEVICE float to_float(std::uint16_t bits) {
  static_assert(E == elem::bf16 || E == elem::f16, "[TW0202] to_float reads bf16 or f16");
  if constexpr (E == elem::bf16)
    return to_float(bf16{bits});
  else
    return to_float(f16{bits});
}

}  // namespace tw
