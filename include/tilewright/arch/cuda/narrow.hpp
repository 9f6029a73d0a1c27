// SPDX-License-Identifier: Apache-2.0
// narrow.hpp  Two elements of 4 or 6 bits, or two scale factors, from and to wider ones.
#pragma once

#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/packed.hpp"
#include "tilewright/base/elem.hpp"

namespace tw {

/// Two values rounded to nearest even and saturated, `lo` in the lower bits. E: e2m1, in 8 bits;
/// e2m3 or e3m2, a byte each. A NaN becomes the largest number. PTX ISA, "cvt".
template <elem E, class Target = detail::this_target>
TW_DEVICE std::uint32_t pack_narrow(float lo, float hi) {
  detail::need_sm100f<Target>();
  static_assert(E == elem::e2m1 || E == elem::e2m3 || E == elem::e3m2,
                "[TW0202] pack_narrow rounds to e2m1, e2m3 or e3m2");
  std::uint16_t both;
  if constexpr (E == elem::e2m1)
    asm("{\n"
        ".reg .b8 two;\n"
        "cvt.rn.satfinite.e2m1x2.f32 two, %1, %2;\n"
        "mov.b16 %0, {two, 0};\n"
        "}"
        : "=h"(both)
        : "f"(hi), "f"(lo));
  else if constexpr (E == elem::e2m3)
    asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(hi), "f"(lo));
  else
    asm("cvt.rn.satfinite.e3m2x2.f32 %0, %1, %2;" : "=h"(both) : "f"(hi), "f"(lo));
  return both;
}

/// The exact values of what pack_narrow makes. PTX ISA, "cvt".
template <elem E, class Target = detail::this_target>
TW_DEVICE f16x2 unpack_narrow(std::uint32_t bits) {
  detail::need_sm100f<Target>();
  static_assert(E == elem::e2m1 || E == elem::e2m3 || E == elem::e3m2,
                "[TW0202] unpack_narrow reads e2m1, e2m3 or e3m2");
  f16x2 both;
  auto const in = static_cast<std::uint16_t>(bits);
  if constexpr (E == elem::e2m1)
    asm("{\n"
        ".reg .b8 two, none;\n"
        "mov.b16 {two, none}, %1;\n"
        "cvt.rn.f16x2.e2m1x2 %0, two;\n"
        "}"
        : "=r"(both.bits)
        : "h"(in));
  else if constexpr (E == elem::e2m3)
    asm("cvt.rn.f16x2.e2m3x2 %0, %1;" : "=r"(both.bits) : "h"(in));
  else
    asm("cvt.rn.f16x2.e3m2x2 %0, %1;" : "=r"(both.bits) : "h"(in));
  return both;
}

/// Two ue8m0: the smallest powers of two that are not below |lo| and |hi|. PTX ISA, "cvt".
template <class Target = detail::this_target>
TW_DEVICE std::uint32_t pack_ue8m0(float lo, float hi) {
  detail::need_sm100f<Target>();
  std::uint16_t both;
  asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(both) : "f"(hi), "f"(lo));
  return both;
}
/// The values of two ue8m0; the smallest, 2^-127, is a subnormal bf16. PTX ISA, "cvt".
template <class Target = detail::this_target>
TW_DEVICE bf16x2 unpack_ue8m0(std::uint32_t bits) {
  detail::need_sm100f<Target>();
  bf16x2 both;
  asm("cvt.rn.bf16x2.ue8m0x2 %0, %1;" : "=r"(both.bits) : "h"(static_cast<std::uint16_t>(bits)));
  return both;
}

}  // namespace tw
