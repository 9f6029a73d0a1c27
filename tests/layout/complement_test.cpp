// SPDX-License-Identifier: Apache-2.0
// complement_test.cpp  The complement of a layout.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(complement("4:2"_L, 24) == "(2,3):(1,8)"_L);
static_assert(complement("(2,2):(1,6)"_L, 24) == "(3,2):(2,12)"_L);
static_assert(complement("4:1"_L, 24) == "6:4"_L && complement("6:4"_L, 24) == "4:1"_L);
static_assert(complement("6:0"_L, 3) == "3:1"_L && complement("8:1"_L) == "1:0"_L);
static_assert(complement_law("(4,2):(1,16)"_L, 64, complement("(4,2):(1,16)"_L, 64)));

std::string complement_refusal(layout const& l, i64 m) {
  try {
    return to_string(complement(l, m));
  } catch (rejected const& e) {
    return e.why().code;
  }
}

TEST(Complement, Law) {
  holds_often(51, 100000, [](random_source& r) {
    layout const l = random_layout(r, 48);
    i64 const m = 1 + r.below(200);
    ASSERT_TRUE(complement_law(l, m, complement(l, m))) << to_string(l) << " in " << m;
  });
}

/// Where strides are nested and m is a whole number of blocks, nothing is left out.
TEST(Complement, FillsEverything) {
  holds_often(52, 100000, [](random_source& r) {
    layout const l = filter_zeros(random_layout(r, 24));
    layout const one = complement(l, 1);
    i64 const block = size(l) * size(one);
    if (cosize(l) + cosize(one) - 1 != block) throw rejected({});  // strides are not nested
    layout const all = make_layout(l, complement(l, 3 * block));
    std::vector<bool> seen(static_cast<std::size_t>(3 * block));
    for (i64 i = 0; i < size(all); ++i) seen[static_cast<std::size_t>(all(i))] = true;
    ASSERT_EQ(size(all), 3 * block) << to_string(l);
    ASSERT_EQ(std::count(seen.begin(), seen.end(), true), 3 * block) << to_string(l);
  });
}

TEST(Complement, Refuses) {
  EXPECT_EQ(complement_refusal("(4,7):(3,4)"_L, 102), "TW0108") << "not injective";
  EXPECT_EQ(complement_refusal("(2,2):(1,3)"_L, 12), "TW0108") << "2 and 5 could not be reached";
  EXPECT_EQ(complement_refusal("(2,2):(1,3)"_L, 5), "1:0") << "here nothing is missing";
  EXPECT_EQ(complement_refusal("4:-1"_L, 8), "TW0109");
  EXPECT_EQ(complement_refusal("4:1@0"_L, 8), "TW0109");
  EXPECT_EQ(complement_refusal("4:1"_L, 0), "TW0114");
}

}  // namespace
