// SPDX-License-Identifier: Apache-2.0
// inverse_test.cpp  Offsets back to indices.
#include <gtest/gtest.h>

#include <set>

#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(right_inverse("(4,8):(8,1)"_L) == "(8,4):(4,1)"_L);
static_assert(left_inverse("(3,3,(5,3)):(4,48,(2592,288))"_L) == "(4,12,6,9,5):(0,1,3,45,9)"_L);
static_assert(nullspace("(8,16):(1,0)"_L) == "16:8"_L);
static_assert(left_inverse("Sw<1,2,3> o 0 o (4,16):(16,1)"_L) == "Sw<1,1,-3> o 0 o (16,4):(4,1)"_L);

std::string code(layout (*f)(layout const&), layout const& l) {
  try {
    return to_string(f(l));
  } catch (rejected const& e) {
    return e.why().code;
  }
}

TEST(Inverse, RightInverseLaw) {
  holds_often(161, 100000, [](random_source& r) {
    layout l = random_layout(r, 64);
    if (r.one_in(3)) l = swizzled(make_swizzle(1, static_cast<int>(r.below(2)), 2), l);
    layout const inverse = right_inverse(l);
    for (i64 i = 0; i < size(inverse); ++i) ASSERT_EQ(l(inverse(i)), i) << to_string(l);
  });
}

TEST(Inverse, LeftInverseLaw) {
  int injective = 0;
  holds_often(162, 100000, [&injective](random_source& r) {
    layout l = random_layout(r, 64);
    if (r.one_in(3)) l = swizzled(make_swizzle(1, static_cast<int>(r.below(2)), 2), l);
    layout const inverse = left_inverse(l);
    std::set<i64> offsets;
    for (i64 i = 0; i < size(l); ++i) {
      ASSERT_EQ(l(inverse(l(i))), l(i)) << to_string(l) << " " << to_string(inverse);
      offsets.insert(l(i));
    }
    if (std::ssize(offsets) < size(l)) return;
    ++injective;
    for (i64 i = 0; i < size(l); ++i) ASSERT_EQ(inverse(l(i)), i) << to_string(l);
  });
  EXPECT_GT(injective, 30000);
}

TEST(Inverse, NullspaceLaw) {
  holds_often(163, 100000, [](random_source& r) {
    layout const l = random_layout(r, 64);
    layout const n = nullspace(l);
    for (i64 i = 0; i < size(n); ++i) ASSERT_EQ(l(n(i)), 0) << to_string(l);
    ASSERT_EQ(size(n) * size(filter_zeros(l)), size(l)) << to_string(l);
  });
}

TEST(Inverse, Refuses) {
  EXPECT_EQ(code(left_inverse, "(2,2):(2,3)"_L), "TW0125");
  EXPECT_EQ(code(left_inverse, "4:-1"_L), "TW0109");
  EXPECT_EQ(code(left_inverse, "Sw<1,0,1> o 0 o (4,4):(8,1)"_L), "TW0116");
}

}  // namespace
