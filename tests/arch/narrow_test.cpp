// SPDX-License-Identifier: Apache-2.0
// narrow_test.cpp  Conversions of elements of 4 and 6 bits and of ue8m0, against values counted
//                  from the formats' definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {
namespace {

/// OCP Microscaling Formats: 1 sign, e exponent, m mantissa bits, no infinity and no NaN.
double value(int code, int e, int m) {
  int const bias = (1 << (e - 1)) - 1, exponent = code >> m & ((1 << e) - 1);
  double const fraction = code & ((1 << m) - 1);
  double const x = exponent == 0 ? std::ldexp(fraction, 1 - bias - m)
                                 : std::ldexp(fraction + (1 << m), exponent - bias - m);
  return (code >> (e + m) & 1) != 0 ? -x : x;
}

template <elem E>
void check(int e, int m) {
  int const count = 1 << (1 + e + m), shift = E == elem::e2m1 ? 4 : 8;
  auto const low = [](std::uint32_t x) { return to_float(f16{static_cast<std::uint16_t>(x)}); };
  for (int code = 0; code < count; ++code) {
    std::uint32_t const two = static_cast<std::uint32_t>(code | (count - 1 - code) << shift);
    f16x2 const wide = unpack_narrow<E>(two);
    EXPECT_EQ(static_cast<double>(low(wide.bits)), value(code, e, m)) << code;
    EXPECT_EQ(static_cast<double>(low(wide.bits >> 16)), value(count - 1 - code, e, m)) << code;
    EXPECT_EQ(pack_narrow<E>(low(wide.bits), low(wide.bits >> 16)), two) << code;
  }
  // Every midpoint goes to the even neighbour, and what lies beside it to the nearer one.
  for (int code = 0; code + 1 < count / 2; ++code) {
    double const a = value(code, e, m), b = value(code + 1, e, m);
    auto const middle = static_cast<float>((a + b) / 2);
    std::uint32_t const even = static_cast<std::uint32_t>(code + code % 2);
    EXPECT_EQ(pack_narrow<E>(middle, 0), even) << code;
    EXPECT_EQ(pack_narrow<E>(std::nextafter(middle, 0.0F), 0), static_cast<std::uint32_t>(code));
    EXPECT_EQ(pack_narrow<E>(std::nextafter(middle, 1e9F), 0),
              static_cast<std::uint32_t>(code + 1));
  }
  auto const largest = static_cast<std::uint32_t>(count / 2 - 1);
  for (float const x : {1e30F, HUGE_VALF, static_cast<float>(NAN)})
    EXPECT_EQ(pack_narrow<E>(x, 0), largest);
}

TEST(Narrow, ElementsOf4And6Bits) {
  check<elem::e2m1>(2, 1);
  check<elem::e2m3>(2, 3);
  check<elem::e3m2>(3, 2);
}

TEST(Narrow, PowersOfTwo) {
  for (int code = 0; code < 255; ++code) {
    float const x = std::ldexp(1.0F, code - 127);
    bf16x2 const wide = unpack_ue8m0(static_cast<std::uint32_t>(code << 8));
    EXPECT_EQ(to_float(bf16{static_cast<std::uint16_t>(wide.bits >> 16)}), x) << code;
    EXPECT_EQ(pack_ue8m0(0, x), static_cast<std::uint32_t>(code << 8)) << code;
    if (code < 254) {  // up
      EXPECT_EQ(pack_ue8m0(std::nextafter(x, HUGE_VALF), 0), static_cast<std::uint32_t>(code + 1));
    }
  }
  EXPECT_EQ(pack_ue8m0(HUGE_VALF, static_cast<float>(NAN)), 0xFFFEU);
}

}  // namespace
}  // namespace tw::test
