// SPDX-License-Identifier: Apache-2.0
// narrow.hpp  Two elements of 4 or 6 bits, or two scale factors, from and to wider ones (emulated).
//             PTX ISA, "cvt".
#pragma once

#include <cstdint>

#include "tilewright/arch/packed.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <elem E>
TW_DEVICE std::uint32_t pack_narrow(float lo, float hi) {
  static_assert(E == elem::e2m1 || E == elem::e2m3 || E == elem::e3m2,
                "[TW0202] pack_narrow rounds to e2m1, e2m3 or e3m2");
  auto const both = [](auto low, auto high, int bits) {
    return static_cast<std::uint32_t>(low.bits | high.bits << bits);
  };
  if constexpr (E == elem::e2m1) return both(to_e2m1(lo), to_e2m1(hi), 4);
  if constexpr (E == elem::e2m3) return both(to_e2m3(lo), to_e2m3(hi), 8);
  if constexpr (E == elem::e3m2) return both(to_e3m2(lo), to_e3m2(hi), 8);
}

template <elem E>
TW_DEVICE f16x2 unpack_narrow(std::uint32_t bits) {
  static_assert(E == elem::e2m1 || E == elem::e2m3 || E == elem::e3m2,
                "[TW0202] unpack_narrow reads e2m1, e2m3 or e3m2");
  auto const half = [](std::uint32_t code) {
    auto const b = static_cast<std::uint8_t>(code);
    if constexpr (E == elem::e2m1) return std::uint32_t{to_f16(to_float(e2m1{b})).bits};
    if constexpr (E == elem::e2m3) return std::uint32_t{to_f16(to_float(e2m3{b})).bits};
    if constexpr (E == elem::e3m2) return std::uint32_t{to_f16(to_float(e3m2{b})).bits};
  };
  constexpr int step = E == elem::e2m1 ? 4 : 8;
  constexpr std::uint32_t mask = E == elem::e2m1 ? 0xF : 0x3F;
  return {half(bits & mask) | half(bits >> step & mask) << 16};
}

TW_DEVICE std::uint32_t pack_ue8m0(float lo, float hi) {
  return static_cast<std::uint32_t>(to_ue8m0_up(lo).bits | to_ue8m0_up(hi).bits << 8);
}
TW_DEVICE bf16x2 unpack_ue8m0(std::uint32_t bits) {
  auto const half = [](std::uint32_t code) {
    return std::uint32_t{to_bf16(to_float(ue8m0{static_cast<std::uint8_t>(code)})).bits};
  };
  return {half(bits & 0xFF) | half(bits >> 8 & 0xFF) << 16};
}

}  // namespace tw
