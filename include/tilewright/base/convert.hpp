// SPDX-License-Identifier: Apache-2.0
// convert.hpp  float to and from the other element types, bit for bit as CUDA does it.
//
// Widening is exact. Narrowing rounds to nearest, ties to even, subnormals included:
//   to_bf16 == __float2bfloat16_rn, to_f16 == __float2half_rn (any NaN becomes 0x7FFF),
//   to_e4m3, to_e5m2 == __nv_cvt_float_to_fp8 with __NV_SATFINITE or __NV_NOSAT (saturation below;
//   any NaN becomes 0x7F, and e4m3 has no infinity: without saturation overflow becomes NaN).
// to_tf32 is the one exception: ties away from zero, as cvt.rna.tf32.f32 does, because that is the
// rounding the hardware offers on every target with tf32 (PTX ISA, "cvt"). The 13 low bits of a
// result are zero. A NaN loses its low bits without being rounded, as an H200 does it: one whose
// payload lies there alone becomes infinity.
// f16 and fp8 NaNs widen to 0x7FFFFFFF, bf16 and tf32 NaNs keep their bits.
// Tests: tests/base/convert_cuda_test.cpp against CUDA's headers, tests/gpu/convert.cu on a GPU.
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// The result of a number beyond the largest finite one.
enum class saturation : std::uint8_t {
  none,    // infinity; NaN where the type has none
  finite,  // the largest finite number, also for infinity
};

namespace detail {

template <class T>
inline constexpr float_format format_of = traits_of(elem_of<T>).format;

inline constexpr std::uint32_t float_inf = 0x7F800000U;
inline constexpr std::uint32_t float_nan = 0x7FFFFFFFU;  // the canonical NaN of PTX

/// value / 2^shift rounded to nearest, ties to even; 1 <= shift <= 31.
TW_HD constexpr std::uint32_t shift_right_rn(std::uint32_t value, int shift) {
  std::uint32_t const odd = (value >> shift) & 1U;
  return (value + (1U << (shift - 1)) - 1U + odd) >> shift;
}

/// Magnitude bits of a finite or infinite float in format F, as if F's exponent had no upper end.
template <float_format F>
TW_HD constexpr std::uint32_t round_magnitude(std::uint32_t magnitude) {
  constexpr int dropped = 23 - F.mantissa_bits;
  constexpr int rebias = 127 - F.bias();  // float exponent of F's exponent 0
  if constexpr (rebias == 0) return shift_right_rn(magnitude, dropped);
  int const exponent = static_cast<int>(magnitude >> 23);
  if (exponent > rebias) {
    return shift_right_rn(magnitude - (static_cast<std::uint32_t>(rebias) << 23), dropped);
  }
  int const shift = dropped + rebias + 1 - exponent;  // a subnormal of F counts its smallest step
  std::uint32_t const significand = (magnitude & 0x7FFFFFU) | 0x800000U;
  return shift > 24 ? 0U : shift_right_rn(significand, shift);
}

template <float_format F>
TW_HD constexpr std::uint32_t narrow(float x, saturation s) {
  std::uint32_t const bits = __builtin_bit_cast(std::uint32_t, x);
  std::uint32_t const magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > float_inf) return F.nan;
  std::uint32_t const sign = (bits >> 31) << (F.bits() - 1);
  std::uint32_t const rounded = round_magnitude<F>(magnitude);
  if (rounded <= F.max_finite) return sign | rounded;
  return sign | (s == saturation::finite ? F.max_finite : F.overflow);
}

template <float_format F>
TW_HD constexpr float widen(std::uint32_t bits) {
  std::uint32_t const sign = (bits >> (F.bits() - 1)) << 31;
  std::uint32_t const magnitude = bits & ((1U << (F.bits() - 1)) - 1U);
  if (magnitude > F.max_finite) {  // infinity is the one such pattern with a zero mantissa
    bool const infinite = F.has_infinity() && magnitude == F.overflow;
    return __builtin_bit_cast(float, infinite ? sign | float_inf : float_nan);
  }
  if (magnitude >> F.mantissa_bits == 0) {  // zero or subnormal: an integer count of small steps
    constexpr std::uint32_t step = static_cast<std::uint32_t>(128 - F.bias() - F.mantissa_bits)
                                   << 23;
    float const value = static_cast<float>(magnitude) * __builtin_bit_cast(float, step);
    return __builtin_bit_cast(float, sign | __builtin_bit_cast(std::uint32_t, value));
  }
  std::uint32_t const rebias = static_cast<std::uint32_t>(127 - F.bias()) << 23;
  return __builtin_bit_cast(float, sign | ((magnitude << (23 - F.mantissa_bits)) + rebias));
}

}  // namespace detail

TW_HD constexpr float to_float(float x) { return x; }
/// The float of these bits, and the bits of a float.
TW_HD constexpr float float_of_bits(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
TW_HD constexpr std::uint32_t bits_of_float(float x) {
  return __builtin_bit_cast(std::uint32_t, x);
}

TW_HD constexpr float to_float(tf32 x) { return __builtin_bit_cast(float, x.bits); }
TW_HD constexpr float to_float(bf16 x) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(x.bits) << 16);
}
template <class T>
requires(detail::format_of<T>.exists() && sizeof(T) <= 2) TW_HD constexpr float to_float(T x) {
  return detail::widen<detail::format_of<T>>(x.bits);
}
TW_HD constexpr float to_float(ue8m0 x) {
  if (x.bits == 0xFF) return __builtin_bit_cast(float, detail::float_nan);
  std::uint32_t const smallest = 0x400000U;  // 2^-127, a subnormal float
  return __builtin_bit_cast(float,
                            x.bits == 0 ? smallest : static_cast<std::uint32_t>(x.bits) << 23);
}
TW_HD constexpr float to_float(ue4m3 x) { return to_float(e4m3{x.bits}); }
TW_HD constexpr float to_float(std::int32_t x) { return static_cast<float>(x); }
TW_HD constexpr float to_float(std::int8_t x) { return static_cast<float>(x); }
TW_HD constexpr float to_float(std::uint8_t x) { return static_cast<float>(x); }

/// Narrowing of the types with a float_format but f32 and tf32.
template <class T>
TW_HD constexpr T to_format(float x, saturation s) {
  return {static_cast<decltype(T::bits)>(detail::narrow<detail::format_of<T>>(x, s))};
}
TW_HD constexpr bf16 to_bf16(float x) { return to_format<bf16>(x, saturation::none); }
TW_HD constexpr f16 to_f16(float x) { return to_format<f16>(x, saturation::none); }
TW_HD constexpr e4m3 to_e4m3(float x, saturation s) { return to_format<e4m3>(x, s); }
TW_HD constexpr e5m2 to_e5m2(float x, saturation s) { return to_format<e5m2>(x, s); }
/// As cvt.rn.satfinite does it; a NaN becomes the largest positive number.
TW_HD constexpr e2m3 to_e2m3(float x) { return to_format<e2m3>(x, saturation::finite); }
TW_HD constexpr e3m2 to_e3m2(float x) { return to_format<e3m2>(x, saturation::finite); }
TW_HD constexpr e2m1 to_e2m1(float x) { return to_format<e2m1>(x, saturation::finite); }
/// |x| as a number without a sign: the nearest, at most 448; a NaN stays one.
TW_HD constexpr ue4m3 to_ue4m3(float x) {
  return {static_cast<std::uint8_t>(to_e4m3(x, saturation::finite).bits & 0x7FU)};
}
/// The smallest power of two that is at least |x| (cvt.rp.satfinite): 2^-127 to 2^127; NaN stays.
TW_HD constexpr ue8m0 to_ue8m0_up(float x) {
  std::uint32_t const magnitude = __builtin_bit_cast(std::uint32_t, x) & 0x7FFFFFFFU;
  if (magnitude > detail::float_inf) return {0xFF};
  if (magnitude <= 0x400000U) return {0};
  std::uint32_t const up = (magnitude + 0x7FFFFFU) >> 23;
  return {static_cast<std::uint8_t>(up > 254U ? 254U : up)};
}

TW_HD constexpr tf32 to_tf32(float x) {
  std::uint32_t const bits = __builtin_bit_cast(std::uint32_t, x);
  bool const is_nan = (bits & 0x7FFFFFFFU) > detail::float_inf;
  return {(is_nan ? bits : bits + 0x1000U) & ~0x1FFFU};  // the carry runs on, up to infinity
}

/// The nearest integer, ties to even, saturated; a NaN becomes 0 (PTX ISA, "cvt", .rni.sat).
template <class T>
TW_HD constexpr T to_integer(float x) {
  constexpr int bits = size_bits(elem_of<T>);
  constexpr bool has_sign = is_signed(elem_of<T>);
  constexpr std::int64_t top = (std::int64_t{1} << (has_sign ? bits - 1 : bits)) - 1;
  constexpr std::int64_t bottom = has_sign ? -top - 1 : 0;
  if (x != x) return 0;
  if (x >= static_cast<float>(top)) return static_cast<T>(top);
  if (x <= static_cast<float>(bottom)) return static_cast<T>(bottom);
  std::int64_t whole = static_cast<std::int64_t>(x);
  float const rest = x - static_cast<float>(whole);
  if (rest > 0.5F || (rest == 0.5F && whole % 2 != 0)) ++whole;
  if (rest < -0.5F || (rest == -0.5F && whole % 2 != 0)) --whole;
  return static_cast<T>(whole);
}

/// Narrowing by the type's name, for generic code; types of 8 bits and fewer saturate.
template <class T>
TW_HD constexpr T from_float(float x) {
  constexpr elem type = elem_of<T>;
  if constexpr (type == elem::f32)
    return x;
  else if constexpr (type == elem::tf32)
    return to_tf32(x);
  else if constexpr (type == elem::ue4m3)
    return to_ue4m3(x);
  else if constexpr (type == elem::ue8m0)
    return to_ue8m0_up(x);
  else if constexpr (is_integer(type))
    return to_integer<T>(x);
  else
    return to_format<T>(x, sizeof(T) == 1 ? saturation::finite : saturation::none);
}

}  // namespace tw
