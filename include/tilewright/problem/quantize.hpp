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
// Equal bits on the host, in the emulator and on a GPU: a division and conversions that IEEE 754
// defines.
#pragma once

#include <optional>

#include "tilewright/base/check.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
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
  bool given = false;  // one float32 scale for the whole matrix is read, not computed
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
  std::uint32_t const bits = bits_of_float(x) & 0x7FFFFFFFU;
  return bits < detail::float_inf ? bits : 0;
}

/// Types of the values: 8-bit floats that are multiplied, and s8.
TW_HD constexpr bool is_quantized(elem to) {
  return is_fp8(to) || (is_8_bit_integer(to) && is_signed(to));
}

/// The largest value of a type.
TW_HD constexpr float quantize_limit(elem to) { return traits_of(to).largest; }

/// The scale of a block with this amax.
TW_HD constexpr float quantize_scale(float amax, float limit, bool power_of_two) {
  if (amax == 0.0F) return 1.0F;
  float s = amax / limit;
  if (power_of_two) s = to_float(to_ue8m0_up(s));
  constexpr float smallest = 0x1p-126F;
  return s < smallest ? smallest : s;
}

/// Division of many numbers by one scale, with the bits of x / scale at the cost of a few fused
/// multiply-adds. r = 1 / scale is rounded to nearest, and q = x r is within 1.5 units of the last
/// place. The correction q + (x - q scale) r makes it the nearest float (P. Markstein, "Computation
/// of elementary functions on the IBM RISC System/6000 processor", 1990): it could be another one
/// only where x / scale is within 5 2^-25 units of the middle between two floats, and a test tries
/// all of these. Scales far from 1 are first multiplied by a power of two, and x with them, so that
/// nothing underflows but where the quotient is 0 in 8 bits.
class scale_divisor {
 public:
  TW_HD constexpr explicit scale_divisor(float scale)
      : factor_(magnitude(scale) < 0x1p-64F  ? 0x1p64F
                : magnitude(scale) > 0x1p64F ? 0x1p-64F
                                             : 1.0F),
        reciprocal_(1.0F / (scale * factor_)),
        scale_(reciprocal_ == 0.0F ? 0.0F : scale * factor_) {}

  TW_HD float divide(float x) const {
    float const y = x * factor_, q = y * reciprocal_;
    // Others saturate, are NaN, or are zeros, of which q has the sign.
    return magnitude(q) < 0x1p30F && magnitude(q) > 0x1p-30F ? corrected(q, y) : q;
  }

  /// Is the scale positive and so near to 1 that divide_small() may be called?
  TW_HD constexpr bool is_near_one() const { return factor_ == 1.0F && scale_ > 0.0F; }
  /// divide() for NaN and magnitudes up to 2^20 scales, in fewer instructions.
  TW_HD float divide_small(float x) const {
    return __builtin_copysignf(corrected(x * reciprocal_, x), x);  // a zero keeps its sign
  }

 private:
  TW_HD static constexpr float magnitude(float x) { return x < 0 ? -x : x; }
  /// The float that is nearest to y / scale_; __builtin_fmaf is no constant expression for clang.
  TW_HD float corrected(float q, float y) const {
    return __builtin_fmaf(__builtin_fmaf(-q, scale_, y), reciprocal_, q);
  }
  float factor_, reciprocal_, scale_;
};

/// The code of an element divided by its scale.
template <class To>
TW_HD constexpr To quantized_quotient(float y) {
  if constexpr (!is_integer(elem_of<To>)) {
    return from_float<To>(y);  // saturates; NaN stays NaN
  } else {
    auto const code = to_integer<std::int8_t>(y);
    return code == -128 ? static_cast<std::int8_t>(-127) : code;
  }
}

/// The code of one element.
template <class To>
TW_HD constexpr To quantized(float x, float scale) {
  return quantized_quotient<To>(x / scale);
}

}  // namespace tw
