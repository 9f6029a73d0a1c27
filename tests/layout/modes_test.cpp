// SPDX-License-Identifier: Apache-2.0
// modes_test.cpp  The modes of a layout as a list.
#include <gtest/gtest.h>

#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

constexpr layout three_modes = "(2,(4,3),8):(1,(2,100),8)"_L;
static_assert(take(three_modes, 1, 3) == "((4,3),8):((2,100),8)"_L);
static_assert(select(three_modes, make_tree(2, 0)) == "(8,2):(8,1)"_L);
static_assert(group(three_modes, 0, 2) == "((2,(4,3)),8):((1,(2,100)),8)"_L);
static_assert(append_mode("4:1"_L, "2:4"_L) == "(4,2):(1,4)"_L);
static_assert(prepend_mode("(4,2):(1,4)"_L, "3:9"_L) == "(3,4,2):(9,1,4)"_L);
static_assert(pad_rank("6:1"_L, 4) == "(6,1,1,1):(1,0,0,0)"_L);
static_assert(zip("((2,4),(4,2)):((2,16),(4,1))"_L) == "((2,4),(4,2)):((2,4),(16,1))"_L);
static_assert(flatten(three_modes) == "(2,4,3,8):(1,2,100,8)"_L);

TEST(Modes, GroupAndFlattenKeepTheFunction) {
  holds_often(141, 100000, [](random_source& r) {
    layout const a = random_layout(r, 48);
    int const begin = static_cast<int>(r.below(rank(a)));
    int const end = begin + 1 + static_cast<int>(r.below(rank(a) - begin));
    ASSERT_TRUE(meaning::same_function(group(a, begin, end), a)) << to_string(a);
    ASSERT_TRUE(meaning::same_function(flatten(a), a)) << to_string(a);
    ASSERT_EQ(mode(take(a, begin, end), 0), mode(a, begin)) << to_string(a);
  });
}

TEST(Modes, ZipTwiceIsTheLayout) {
  holds_often(142, 100000, [](random_source& r) {
    layout const a = random_layout(r, 12);
    layout const pair = make_layout(make_layout(a, a), make_layout(a, layout(2, 1)));
    ASSERT_EQ(zip(zip(pair)), pair) << to_string(a);
  });
}

TEST(Modes, Refuses) {
  EXPECT_THROW(take(three_modes, 1, 4), rejected);       // TW0112
  EXPECT_THROW(take(three_modes, 1, 1), rejected);       // TW0112
  EXPECT_THROW(zip("((2,2),3):((1,2),4)"_L), rejected);  // TW0110
}

}  // namespace
