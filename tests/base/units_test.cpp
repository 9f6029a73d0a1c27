// SPDX-License-Identifier: Apache-2.0
// units_test.cpp  Sizes of every element type, names both ways, and counts that would wrap.
#include "tilewright/base/units.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_text.hpp"

namespace {

using namespace tw;

constexpr elem all_elems[] = {elem::f32, elem::tf32, elem::f16, elem::bf16, elem::e4m3, elem::e5m2};

static_assert(!std::is_convertible_v<bytes, elements> && !std::is_convertible_v<int, bytes>);
static_assert(sizeof(bf16) == 2 && sizeof(f16) == 2 && sizeof(tf32) == 4);
static_assert(sizeof(e4m3) == 1 && sizeof(e5m2) == 1);
static_assert(std::is_trivially_copyable_v<bf16> && std::is_aggregate_v<bf16>);
static_assert(elem_of<float> == elem::f32 && elem_of<e5m2> == elem::e5m2);

TEST(elem, its_name_parses_to_itself_and_nothing_else_parses) {
  for (elem e : all_elems) EXPECT_EQ(parse_elem(name(e)), e);
  for (char const* text : {"", "f", "f322", "F32", "bf16 ", "fp16"}) {
    EXPECT_EQ(parse_elem(text), std::nullopt) << text;
  }
}

TEST(units, elements_bytes_and_bits_agree) {
  for (elem e : all_elems) {
    EXPECT_EQ(bytes_of(e, elements{24}).count * 8, bits_of(e, elements{24}).count);
    EXPECT_EQ(elements_in(e, bytes_of(e, elements{24})), elements{24});
    EXPECT_EQ(elements_in(e, bytes_of(e, elements{24}) - bytes{1}), elements{23});
  }
  EXPECT_EQ(bytes{2} * 3 + bytes{1}, bytes{7});
  EXPECT_LT(bytes{2}, bytes{3});
}

TEST(units, a_size_that_leaves_63_bits_is_no_size) {
  std::int64_t const big = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(checked_elements(3, 5), elements{15});
  EXPECT_EQ(checked_elements(big, 1), elements{big});
  EXPECT_EQ(checked_elements(big, 2), std::nullopt);
  EXPECT_EQ(checked_elements(-1, 5), std::nullopt);
  EXPECT_EQ(checked_elements(0, big), elements{0});
  EXPECT_EQ(checked_bytes(elem::bf16, big / 2, 1), bytes{big - 1});
  EXPECT_EQ(checked_bytes(elem::f32, big / 2, 1), std::nullopt);
}

TEST(rejection, is_one_line_with_got_and_need) {
  rejection r{"TW0001", "leading dimension of A", "7 elements", "at least 9", ""};
  EXPECT_EQ(to_string(r), "TW0001: leading dimension of A: got 7 elements, need at least 9");
  r.hint = "pad the rows";
  EXPECT_EQ(to_string(r),
            "TW0001: leading dimension of A: got 7 elements, need at least 9; pad the rows");
  EXPECT_EQ(rejected(r).what(), to_string(r));
  EXPECT_EQ(rejected(r).why(), r);
}

}  // namespace
