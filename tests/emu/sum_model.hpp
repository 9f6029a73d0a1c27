// SPDX-License-Identifier: Apache-2.0
// sum_model.hpp  How a tensor core adds (base/accumulator_bits.hpp), written a second time in
//                float64: alignment by truncation, an exact sum, one rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tilewright/base/convert.hpp"

namespace tw::test {

/// The number that a code is, and the exponent that the tensor core gives it.
struct number {
  double value;
  int exponent;
};

inline double value_of(elem type, std::uint32_t code) {
  if (type == elem::ue4m3) code &= 0x7FU;  // without the sign
  return with_elem(type, [&](auto t) -> double {
    using T = typename decltype(t)::type;
    if constexpr (size_bits(t.value) <= 16 && !is_integer(t.value))
      return to_float(T{static_cast<decltype(T::bits)>(code)});
    else
      return __builtin_bit_cast(float, code >> 13 << 13);
  });
}

/// The exponent of the smallest normal number.
inline int least_exponent(elem type) {
  switch (type) {
    case elem::f16:
    case elem::e5m2: return -14;
    case elem::e4m3:
    case elem::ue4m3: return -6;
    case elem::e3m2: return -2;
    case elem::e2m3:
    case elem::e2m1: return 0;
    case elem::ue8m0: return -127;
    default: return -126;  // bf16, tf32, f32
  }
}

inline number number_of(elem type, std::uint32_t code) {
  double const x = value_of(type, code);
  if (x == 0 || !std::isfinite(x)) return {x, least_exponent(type)};
  return {x, std::max(std::ilogb(x), least_exponent(type))};
}

/// Towards zero, beyond the largest number infinity.
inline std::uint32_t float_bits(double x) {
  if (std::isnan(x)) return 0x7FFFFFFFU;
  if (std::fabs(x) >= 0x1p128)
    return __builtin_bit_cast(std::uint32_t, x < 0 ? -HUGE_VALF : HUGE_VALF);
  auto f = static_cast<float>(x);
  if (std::fabs(static_cast<double>(f)) > std::fabs(x)) f = std::nextafterf(f, 0.0F);
  return __builtin_bit_cast(std::uint32_t, f);
}
/// To nearest even.
inline std::uint32_t half_bits(double x) {
  if (std::isnan(x)) return 0x7FFFU;
  std::uint32_t const sign = std::signbit(x) ? 0x8000U : 0U;
  double const y = std::fabs(x);
  if (y >= 65520) return sign | 0x7C00U;
  int const exponent = y == 0 ? -14 : std::max(std::ilogb(y), -14);
  auto const units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(y, 10 - exponent)));
  return sign | (units < 1024 ? units : (static_cast<std::uint32_t>(exponent + 14) << 10) + units);
}

/// Terms and C aligned to the largest exponent, each cut to `kept` bits, summed, rounded once.
inline std::uint32_t model(std::vector<number> terms, number c, int kept, elem d) {
  terms.push_back(c);
  double special = 0;
  int largest = -10000;
  for (number const& t : terms) {
    if (!std::isfinite(t.value)) special += t.value;
    if (t.value != 0 && std::isfinite(t.value)) largest = std::max(largest, t.exponent);
  }
  auto const rounded = [&](double x) { return d == elem::f16 ? half_bits(x) : float_bits(x); };
  if (special != 0 || std::isnan(special)) return rounded(special);
  double sum = 0;  // of integers below 2^53
  for (number const& t : terms) sum += std::trunc(std::ldexp(t.value, kept - largest));
  return rounded(std::ldexp(sum, largest - kept));
}

}  // namespace tw::test
