// SPDX-License-Identifier: Apache-2.0
// packed_math.hpp  Arithmetic on two 16-bit floats at once, bytes and bits of registers (emulated).
//                  PTX ISA, "Half Precision Floating Point Instructions", "prmt", "lop3".
#pragma once

#include <cmath>
#include <cstdint>

#include "tilewright/arch/packed.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

namespace emu {

/// To float with its last bit set where the value lies between two floats (round to odd): rounding
/// that to 16 bits gives what rounding the value at once would.
inline float to_odd(double x) {
  auto f = static_cast<float>(x);
  if (static_cast<double>(f) == x || x != x || std::isinf(f)) return f;
  if (std::fabs(static_cast<double>(f)) > std::fabs(x)) f = std::nextafter(f, 0.0F);
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, f) | 1U);
}

/// a + b with the last bit set where the sum lies between two doubles.
inline double sum_to_odd(double a, double b) {
  double const s = a + b, of_b = s - a;
  double const rest = (a - (s - of_b)) + (b - of_b);  // exact: s + rest is the sum
  if (!std::isfinite(s) || rest == 0 || (__builtin_bit_cast(std::uint64_t, s) & 1U) != 0) return s;
  return std::nextafter(s, rest > 0 ? HUGE_VAL : -HUGE_VAL);
}

inline double half_of(f16x2 x, int i) {
  return static_cast<double>(to_float(f16{static_cast<std::uint16_t>(x.bits >> 16 * i)}));
}
inline double half_of(bf16x2 x, int i) {
  return static_cast<double>(to_float(bf16{static_cast<std::uint16_t>(x.bits >> 16 * i)}));
}
inline std::uint32_t half_bits(f16x2, double x) { return to_f16(to_odd(x)).bits; }
inline std::uint32_t half_bits(bf16x2, double x) { return to_bf16(to_odd(x)).bits; }

/// f of the halves, in double precision.
template <class T, class F, class... X>
T each_half(F f, X... x) {
  return {half_bits(T{}, f(half_of(x, 0)...)) | half_bits(T{}, f(half_of(x, 1)...)) << 16};
}
/// A NaN gives way to a number; +0 is larger than -0.
inline double smaller(double a, double b) {
  if (a != a || b != b) return a != a ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

}  // namespace emu

TW_DEVICE f16x2 packed_add(f16x2 a, f16x2 b) {
  return emu::each_half<f16x2>(emu::sum_to_odd, a, b);
}
TW_DEVICE f16x2 packed_mul(f16x2 a, f16x2 b) {
  return emu::each_half<f16x2>([](double x, double y) { return x * y; }, a, b);
}
TW_DEVICE f16x2 packed_fma(f16x2 a, f16x2 b, f16x2 c) {
  return emu::each_half<f16x2>(
      [](double x, double y, double z) { return emu::sum_to_odd(x * y, z); }, a, b, c);
}
TW_DEVICE f16x2 packed_min(f16x2 a, f16x2 b) { return emu::each_half<f16x2>(emu::smaller, a, b); }
TW_DEVICE f16x2 packed_max(f16x2 a, f16x2 b) {
  return emu::each_half<f16x2>([](double x, double y) { return -emu::smaller(-x, -y); }, a, b);
}
TW_DEVICE bf16x2 packed_add(bf16x2 a, bf16x2 b) {
  return emu::each_half<bf16x2>(emu::sum_to_odd, a, b);
}
TW_DEVICE bf16x2 packed_mul(bf16x2 a, bf16x2 b) {
  return emu::each_half<bf16x2>([](double x, double y) { return x * y; }, a, b);
}
TW_DEVICE bf16x2 packed_fma(bf16x2 a, bf16x2 b, bf16x2 c) {
  return emu::each_half<bf16x2>(
      [](double x, double y, double z) { return emu::sum_to_odd(x * y, z); }, a, b, c);
}
TW_DEVICE bf16x2 packed_min(bf16x2 a, bf16x2 b) {
  return emu::each_half<bf16x2>(emu::smaller, a, b);
}
TW_DEVICE bf16x2 packed_max(bf16x2 a, bf16x2 b) {
  return emu::each_half<bf16x2>([](double x, double y) { return -emu::smaller(-x, -y); }, a, b);
}

TW_DEVICE std::uint32_t prmt(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  std::uint64_t const bytes = a | static_cast<std::uint64_t>(b) << 32;
  std::uint32_t d = 0;
  for (int i = 0; i < 4; ++i) {
    std::uint32_t const s = selector >> 4 * i & 15U;
    auto byte = static_cast<std::uint32_t>(bytes >> 8 * (s & 7U) & 0xFFU);
    if ((s & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0;
    d |= byte << 8 * i;
  }
  return d;
}
template <int Table>
TW_DEVICE std::uint32_t lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  static_assert(Table >= 0 && Table <= 0xFF, "[TW0265] the table of lop3 has 8 bits");
  std::uint32_t d = 0;
  for (int i = 0; i < 32; ++i) {
    std::uint32_t const row = (a >> i & 1U) << 2 | (b >> i & 1U) << 1 | (c >> i & 1U);
    d |= (static_cast<std::uint32_t>(Table) >> row & 1U) << i;
  }
  return d;
}

}  // namespace tw
