// SPDX-License-Identifier: Apache-2.0
// matrix.hpp  8x8 matrices between registers and shared memory, and packing (emulated).
//             PTX ISA, "ldmatrix", "stmatrix", "cvt".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/packed.hpp"
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

/// Two values rounded to nearest even, `lo` in the lower bits. E: bf16 or f16, in 32 bits; e4m3 or
/// e5m2, which saturate, in 16.
template <elem E>
TW_DEVICE std::uint32_t pack2(float lo, float hi) {
  static_assert(E == elem::bf16 || E == elem::f16 || E == elem::e4m3 || E == elem::e5m2,
                "[TW0202] pack2 rounds to bf16, f16, e4m3 or e5m2");
  auto const both = [](auto low, auto high) {
    return low.bits | static_cast<std::uint32_t>(high.bits) << 8 * sizeof(low);
  };
  if constexpr (E == elem::bf16)
    return both(to_bf16(lo), to_bf16(hi));
  else if constexpr (E == elem::f16)
    return both(to_f16(lo), to_f16(hi));
  else if constexpr (E == elem::e4m3)
    return both(to_e4m3(lo, saturation::finite), to_e4m3(hi, saturation::finite));
  else
    return both(to_e5m2(lo, saturation::finite), to_e5m2(hi, saturation::finite));
}

/// Two 8-bit floats, the lower byte of `bits` first, as f16, exactly. E: e4m3 or e5m2.
template <elem E>
TW_DEVICE f16x2 unpack_fp8(std::uint32_t bits) {
  static_assert(E == elem::e4m3 || E == elem::e5m2, "[TW0202] unpack_fp8 reads e4m3 or e5m2");
  auto const half = [](std::uint32_t code) {
    auto const b = static_cast<std::uint8_t>(code);
    if constexpr (E == elem::e4m3)
      return std::uint32_t{to_f16(to_float(e4m3{b})).bits};
    else
      return std::uint32_t{to_f16(to_float(e5m2{b})).bits};
  };
  return {half(bits & 0xFF) | half(bits >> 8 & 0xFF) << 16};
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
