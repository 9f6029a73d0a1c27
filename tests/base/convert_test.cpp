// SPDX-License-Identifier: Apache-2.0
// convert_test.cpp  The laws of rounding, for every pattern of every small type; digests of tables.
#include "tilewright/base/convert.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/base/convert_inputs.hpp"

namespace {

using namespace tw;
using tw_test::fnv;

template <class T>
struct kind;
template <>
struct kind<f16> {
  static constexpr std::uint32_t max_finite = 0x7BFF, sign = 0x8000;
};
template <>
struct kind<bf16> {
  static constexpr std::uint32_t max_finite = 0x7F7F, sign = 0x8000;
};
template <>
struct kind<e4m3> {
  static constexpr std::uint32_t max_finite = 0x7E, sign = 0x80;
};
template <>
struct kind<e5m2> {
  static constexpr std::uint32_t max_finite = 0x7B, sign = 0x80;
};
template <>
struct kind<e2m3> {
  static constexpr std::uint32_t max_finite = 0x1F, sign = 0x20;
};
template <>
struct kind<e3m2> {
  static constexpr std::uint32_t max_finite = 0x1F, sign = 0x20;
};
template <>
struct kind<e2m1> {
  static constexpr std::uint32_t max_finite = 0x7, sign = 0x8;
};

template <class T>
T pattern(std::uint32_t bits) {
  return {static_cast<decltype(T::bits)>(bits)};
}

template <class T>
class small_type : public testing::Test {};
using small_types = testing::Types<f16, bf16, e4m3, e5m2, e2m3, e3m2, e2m1>;
TYPED_TEST_SUITE(small_type, small_types);

TYPED_TEST(small_type, narrowing_undoes_widening) {
  for (std::uint32_t bits = 0; bits < 2 * kind<TypeParam>::sign; ++bits) {
    float const x = to_float(pattern<TypeParam>(bits));
    if (std::isnan(x)) continue;
    if (std::isinf(x) && size_bits(elem_of<TypeParam>) == 8) continue;  // from_float saturates fp8
    ASSERT_EQ(from_float<TypeParam>(x).bits, bits);
  }
}

TYPED_TEST(small_type, widening_is_monotonic_and_symmetric) {
  for (std::uint32_t bits = 0; bits < kind<TypeParam>::max_finite; ++bits) {
    float const x = to_float(pattern<TypeParam>(bits));
    ASSERT_LT(x, to_float(pattern<TypeParam>(bits + 1)));
    ASSERT_EQ(to_float(pattern<TypeParam>(bits | kind<TypeParam>::sign)), -x);
  }
}

TYPED_TEST(small_type, between_neighbours_the_nearer_wins_and_a_tie_is_even) {
  for (std::uint32_t low = 0; low < kind<TypeParam>::max_finite; ++low) {
    float const a = to_float(pattern<TypeParam>(low)), b = to_float(pattern<TypeParam>(low + 1));
    float const middle = a + (b - a) / 2;  // exact: one more bit than the type has
    ASSERT_EQ(from_float<TypeParam>(middle).bits, low + (low & 1U));
    ASSERT_EQ(from_float<TypeParam>(std::nextafter(middle, a)).bits, low);
    ASSERT_EQ(from_float<TypeParam>(std::nextafter(middle, b)).bits, low + 1);
    ASSERT_EQ(from_float<TypeParam>(-middle).bits, kind<TypeParam>::sign | (low + (low & 1U)));
  }
}

TEST(convert, overflow_goes_to_infinity_nan_or_the_largest) {
  float const huge = 1e38F, inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_f16(65519.99F).bits, 0x7BFF);
  EXPECT_EQ(to_f16(65520.0F).bits, 0x7C00);
  EXPECT_EQ(to_f16(-inf).bits, 0xFC00);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()).bits, 0x7F80);
  EXPECT_EQ(to_e4m3(464.0F, saturation::none).bits, 0x7E);
  EXPECT_EQ(to_e4m3(464.1F, saturation::none).bits, 0x7F);
  EXPECT_EQ(to_e4m3(-huge, saturation::finite).bits, 0xFE);
  EXPECT_EQ(to_e4m3(inf, saturation::none).bits, 0x7F);
  EXPECT_EQ(to_e5m2(huge, saturation::none).bits, 0x7C);
  EXPECT_EQ(to_e5m2(inf, saturation::finite).bits, 0x7B);
}

TEST(convert, formats_without_infinity_saturate) {
  float const inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_float(to_e2m1(inf)), 6.0F);
  EXPECT_EQ(to_float(to_e2m1(-100.0F)), -6.0F);
  EXPECT_EQ(to_float(to_e2m3(1e9F)), 7.5F);
  EXPECT_EQ(to_float(to_e3m2(1e9F)), 28.0F);
  EXPECT_EQ(to_e2m1(std::nanf("")).bits, 0x7);
  EXPECT_EQ(to_float(to_ue4m3(-449.0F)), 448.0F);
}

/// A format without a sign takes the magnitude: no bit of it says what the sign was, of any float.
TEST(convert, a_format_without_a_sign_has_the_code_of_the_magnitude) {
  for (std::uint32_t i = 0; i < 1U << 16; ++i) {
    float const x = float_of_bits(i * 0x8001U & 0x7FFFFFFFU);  // all exponents, and NaN
    ASSERT_EQ(to_ue4m3(-x).bits, to_ue4m3(x).bits) << x;
    ASSERT_EQ(to_ue4m3(x).bits & 0x80U, 0U) << x;
    ASSERT_EQ(to_ue8m0_up(-x).bits, to_ue8m0_up(x).bits) << x;
    if (std::isnan(x)) continue;
    ASSERT_GE(to_float(to_ue4m3(-x)), 0.0F) << x;
    ASSERT_GT(to_float(to_ue8m0_up(-x)), 0.0F) << x;
    ASSERT_EQ(to_integer<std::uint8_t>(-x), 0) << x;
  }
  EXPECT_EQ(to_ue4m3(-0.0F).bits, 0);
  EXPECT_EQ(to_integer<std::uint8_t>(-0.0F), 0);
}

TEST(convert, ue8m0_is_the_next_power_of_two) {
  for (std::uint32_t bits = 0; bits < 255; ++bits) {
    float const power = to_float(ue8m0{static_cast<std::uint8_t>(bits)});
    ASSERT_EQ(power, std::ldexp(1.0F, static_cast<int>(bits) - 127));
    ASSERT_EQ(to_ue8m0_up(power).bits, bits);
    ASSERT_EQ(to_ue8m0_up(std::nextafter(power, 0.0F)).bits, bits);
    ASSERT_EQ(to_ue8m0_up(-std::nextafter(power, 3e38F)).bits, bits < 254 ? bits + 1 : 254);
  }
  EXPECT_EQ(to_ue8m0_up(0.0F).bits, 0);
  EXPECT_EQ(to_ue8m0_up(std::nanf("")).bits, 0xFF);
  EXPECT_TRUE(std::isnan(to_float(ue8m0{0xFF})));
}

TEST(convert, integers_round_to_even_and_saturate) {
  EXPECT_EQ(to_integer<std::int8_t>(2.5F), 2);
  EXPECT_EQ(to_integer<std::int8_t>(-3.5F), -4);
  EXPECT_EQ(to_integer<std::int8_t>(-2.5F), -2);
  EXPECT_EQ(to_integer<std::int8_t>(127.6F), 127);
  EXPECT_EQ(to_integer<std::int8_t>(-1e9F), -128);
  EXPECT_EQ(to_integer<std::uint8_t>(-0.7F), 0);
  EXPECT_EQ(to_integer<std::uint8_t>(255.4F), 255);
  EXPECT_EQ(to_integer<std::int32_t>(3e9F), 2147483647);
  EXPECT_EQ(to_integer<std::int32_t>(-3e9F), -2147483647 - 1);
  EXPECT_EQ(to_integer<std::int32_t>(std::nanf("")), 0);
  for (int i = -300; i < 300; ++i)
    for (float part : {-0.49F, 0.0F, 0.49F})
      ASSERT_EQ(to_integer<std::int32_t>(static_cast<float>(i) + part), i);
}

TEST(convert, tf32_rounds_ties_away_from_zero) {
  EXPECT_EQ(to_tf32(0x1p0F).bits, 0x3F800000U);
  EXPECT_EQ(to_tf32(0x1.002p0F).bits, 0x3F802000U);     // a tie: up, although 1.0 is even
  EXPECT_EQ(to_tf32(-0x1.002p0F).bits, 0xBF802000U);    // away from zero
  EXPECT_EQ(to_tf32(0x1.001ffep0F).bits, 0x3F800000U);  // just below the tie
  EXPECT_EQ(to_tf32(std::numeric_limits<float>::max()).bits, 0x7F800000U);
  EXPECT_EQ(to_tf32(std::bit_cast<float>(0xFFA12345U)).bits, 0xFFA12000U);  // NaN: cut
  EXPECT_EQ(to_tf32(std::bit_cast<float>(0x7F800001U)).bits, 0x7F800000U);  // as an H200 does it
}

static_assert(to_float(to_f16(0x1p-24F)) == 0x1p-24F, "conversions are constant expressions");

/// Digest of all patterns of T, widened.
template <class T>
std::uint64_t widened_digest() {
  fnv digest;
  for (std::uint32_t bits = 0; bits < 2 * kind<T>::sign; ++bits) {
    digest.add(std::bit_cast<std::uint32_t>(to_float(pattern<T>(bits))));
  }
  return digest.value();
}

/// Digest of the chosen floats, narrowed.
template <class F>
std::uint64_t narrowed_digest(F const& narrow) {
  fnv digest;
  tw_test::for_chosen_floats([&](float x) { digest.add(narrow(x).bits); });
  return digest.value();
}

// Digests of CUDA 13.0's own conversions: convert_cuda_test.cpp compares every value where the
// toolkit is present. (tf32 has no header conversion; its digest is that of cvt.rna.tf32.f32.)
TEST(convert, widened_tables_have_the_digests_of_cuda) {
  EXPECT_EQ(widened_digest<f16>(), 0x769A45D48914B525U);
  EXPECT_EQ(widened_digest<bf16>(), 0x43A13836C4CA3B25U);
  EXPECT_EQ(widened_digest<e4m3>(), 0x3A2981A969D31F4DU);
  EXPECT_EQ(widened_digest<e5m2>(), 0xA74FC37D0F4A1DADU);
}

TEST(convert, narrowed_tables_have_the_digests_of_cuda) {
  auto const finite = saturation::finite, none = saturation::none;
  EXPECT_EQ(narrowed_digest(to_f16), 0xCCFEF3C87CA6F3EDU);
  EXPECT_EQ(narrowed_digest(to_bf16), 0x16A95E95EFFEB825U);
  EXPECT_EQ(narrowed_digest([=](float x) { return to_e4m3(x, finite); }), 0x803A16A4BF64D325U);
  EXPECT_EQ(narrowed_digest([=](float x) { return to_e4m3(x, none); }), 0x2DA8CFCFEE325B25U);
  EXPECT_EQ(narrowed_digest([=](float x) { return to_e5m2(x, finite); }), 0x196BDBDF26E71325U);
  EXPECT_EQ(narrowed_digest([=](float x) { return to_e5m2(x, none); }), 0xEB856DDFE1605325U);
  EXPECT_EQ(narrowed_digest(to_tf32), 0x8B80BE872E352B25U);
}

}  // namespace
