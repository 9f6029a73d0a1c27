// SPDX-License-Identifier: Apache-2.0
// quantize.hpp  A matrix of bf16, f16 or f32 as e4m3, e5m2 or int8 with scales.
//
// Each block of the scales (problem/scale.hpp) is treated alone, in float32:
//
//   amax  = the largest magnitude of its finite elements
//   scale = amax / limit, limit = 448 (e4m3), 57344 (e5m2), 127 (int8), rounded to nearest; not
//           below 2^-126; 1 for a block without a finite element other than zero. With
//           power_of_two the smallest power of two that is at least that quotient
//   value = element / scale, rounded to nearest even in the type, and clamped to +-limit
//
// Infinities do not count in amax and are clamped. NaN stays NaN, and is 0 in int8. quantize()
// returns how many there were. An element is decoded as value * scale.
//
// The same bits on the host, in the emulator and on a GPU: a division and conversions that IEEE 754
// defines.
#pragma once

#include <optional>

#include "tilewright/base/check.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/scale.hpp"

namespace tw {

/// Matrices over (outer, k): (m, k) of A, or (n, k) of B, which is B's transpose.
struct quantize_problem {
  std::int64_t outer = 0, k = 0;
  matrix_desc from;  // bf16, f16 or f32
  matrix_desc to;    // e4m3, e5m2 or s8
  scale_desc scale;  // f32 or ue8m0, which needs power_of_two
  bool power_of_two = false;
};

/// Elements that a value cannot express.
struct quantize_counts {
  std::int64_t nan = 0, infinite = 0;
  std::int64_t zero_blocks = 0;  // blocks whose scale is 1 because they have no finite amax
};

/// Why the problem cannot be computed: TW0452.
std::optional<rejection> accept(quantize_problem const& p);

/// Quantises on the host; pointers are host pointers. Scales of one matrix: batch strides do not
/// count. Memory between scales is not written. Throws `rejected` TW0452.
quantize_counts quantize(quantize_problem const& p, void const* from, void* to, void* scales);

/// The bits of |x|, in the order of the magnitudes; 0 of an infinity and NaN.
TW_HD constexpr std::uint32_t finite_magnitude_bits(float x) {
  std::uint32_t const bits = __builtin_bit_cast(std::uint32_t, x) & 0x7FFFFFFFU;
  return bits < detail::float_inf ? bits : 0;
}
TW_HD constexpr float float_of_bits(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// The largest value of a type.
TW_HD constexpr float quantize_limit(elem to) {
  return to == elem::e4m3 ? 448.0F : to == elem::e5m2 ? 57344.0F : 127.0F;
}

/// The scale of a block with this amax.
TW_HD constexpr float quantize_scale(float amax, float limit, bool power_of_two) {
  if (amax == 0.0F) return 1.0F;
  float s = amax / limit;
  if (power_of_two) s = to_float(to_ue8m0_up(s));
  constexpr float smallest = 0x1p-126F;
  return s < smallest ? smallest : s;
}

/// The code of one element.
template <class To>
TW_HD constexpr To quantized(float x, float scale) {
  float const y = x / scale;
  if constexpr (elem_of<To> != elem::s8) {
    return from_float<To>(y);  // saturates; NaN stays NaN
  } else {
    auto const code = to_integer<std::int8_t>(y);
    return code == -128 ? static_cast<std::int8_t>(-127) : code;
  }
}

}  // namespace tw
