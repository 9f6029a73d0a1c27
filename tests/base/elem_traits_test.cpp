// SPDX-License-Identifier: Apache-2.0
// elem_traits_test.cpp  Laws of the properties of element types, over all types.
#include "tilewright/base/elem_traits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_text.hpp"

namespace tw::test {
namespace {

std::vector<elem> all_elems() {
  return elems_that([](elem) { return true; });
}

TEST(ElemTraits, ThePairOfAPairIsTheTypeItself) {
  for (elem const e : all_elems()) {
    elem const other = other_of_pair(e);
    EXPECT_EQ(other_of_pair(other), e) << name(e);
    EXPECT_EQ(traits_of(other).sums, traits_of(e).sums) << name(e);
    EXPECT_EQ(size_bits(other), size_bits(e)) << name(e);
    EXPECT_EQ(other != e, is_fp8(e) || is_8_bit_integer(e)) << name(e);
  }
}

/// The code is NaN exactly where the format has one. Of others it is the number that a NaN becomes.
TEST(ElemTraits, TheCodeOfNanIsNan) {
  for (elem const e : all_elems())
    with_elem(e, [&](auto t) {
      using type = typename decltype(t)::type;
      if constexpr (size_bits(t.value) <= 8 && !is_integer(t.value)) {
        float const x = to_float(type{nan_code(t.value)});
        EXPECT_EQ(std::isnan(x), has_nan(t.value)) << name(t.value);
        if (!has_nan(t.value)) {
          EXPECT_EQ(x, traits_of(t.value).largest) << name(t.value);
        }
      }
    });
  EXPECT_FALSE(has_nan(elem::e2m1));
  EXPECT_TRUE(has_nan(elem::ue8m0));
}

TEST(ElemTraits, AWideFloatHasItsBytesAndIsCalledByItsType) {
  for (elem const e : all_elems()) {
    if (!is_wide_float(e)) continue;
    EXPECT_EQ(wide_float_bytes(e), size_bytes(e)) << name(e);
    EXPECT_EQ(with_wide_float(e, [](auto t) { return t.value; }), e);
  }
  EXPECT_EQ(list_of(elems_that(is_wide_float)), "f32, f16 or bf16");
}

TEST(ElemTraits, ASignIsThereWhereAValueIsNegative) {
  for (elem const e : all_elems())
    with_elem(e, [&](auto t) {
      using type = typename decltype(t)::type;
      if constexpr (size_bits(t.value) <= 8) {
        bool negative = false;
        int const bits = t.value == elem::ue4m3 ? 7 : size_bits(t.value);  // its byte has a spare
        for (int code = 0; code < 1 << bits; ++code) {
          if constexpr (is_integer(t.value))
            negative |= static_cast<type>(code) < 0;
          else
            negative |= to_float(type{static_cast<std::uint8_t>(code)}) < 0;
        }
        EXPECT_EQ(is_signed(t.value), negative) << name(t.value);
      }
    });
}

/// The numbers of `narrow` at the upper end of a word of `wide`.
TEST(ElemTraits, AnUpperPartWithZerosBelowIsTheSameNumber) {
  int parts = 0;
  for (elem const narrow : all_elems())
    for (elem const wide : {elem::f32, elem::f16}) {
      if (narrow == wide || size_bits(narrow) < 8 || is_integer(narrow)) continue;
      bool same = true;
      with_elem(narrow, [&](auto t) {
        using type = typename decltype(t)::type;
        if constexpr (!is_integer(t.value) && t.value != elem::f32)
          for (std::uint32_t code = 0; code < 1U << std::min(16, size_bits(t.value)); ++code) {
            type x{};
            x.bits = static_cast<decltype(x.bits)>(code << (size_bits(t.value) == 32 ? 16 : 0));
            std::uint32_t const bits = std::uint32_t{x.bits}
                                       << std::max(0, size_bits(wide) - size_bits(t.value));
            float const y = wide == elem::f32 ? __builtin_bit_cast(float, bits)
                                              : to_float(f16{static_cast<std::uint16_t>(bits)});
            same = same && (to_float(x) == y || (std::isnan(to_float(x)) && std::isnan(y)));
          }
        else
          same = false;
      });
      if (size_bits(narrow) > size_bits(wide)) same = false;
      EXPECT_EQ(is_upper_part(narrow, wide), same) << name(narrow) << ' ' << name(wide);
      parts += static_cast<int>(same);
    }
  EXPECT_EQ(parts, 3);  // bf16 and tf32 in f32, e5m2 in f16
}

TEST(ElemTraits, AFloatWithItsSignHasTheSameMagnitudes) {
  for (elem const e : all_elems()) {
    EXPECT_TRUE(is_signed(with_sign(e)) || !traits_of(with_sign(e)).format.exists()) << name(e);
    EXPECT_EQ(bits_below_mantissa(e), e == elem::tf32 ? 13 : 0) << name(e);
  }
  for (int code = 0; code < 0x80; ++code) {
    float const x = to_float(ue4m3{static_cast<std::uint8_t>(code)}),
                y = to_float(e4m3{static_cast<std::uint8_t>(code)});
    EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << code;
  }
}

/// DeepGEMM's int32 holds four exponents, a byte of ue8m0 one.
TEST(ElemTraits, ATensorOfScalesHoldsAsManyExponentsAsBytes) {
  for (elem const e : all_elems())
    if (exponents_in(e) > 0) {
      EXPECT_EQ(exponents_in(e), size_bytes(e)) << name(e);
    }
  EXPECT_EQ(exponents_in(elem::f32), 0);
}

}  // namespace
}  // namespace tw::test
