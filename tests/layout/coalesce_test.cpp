// SPDX-License-Identifier: Apache-2.0
// coalesce_test.cpp  One function with fewer leaves.
#include <gtest/gtest.h>

#include <set>

#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(coalesce("(2,1,6):(1,6,2)"_L) == "12:1"_L);
static_assert(coalesce("((8,2),(4,4)):((4,512),(32,128))"_L) == "(8,2,16):(4,512,32)"_L);
static_assert(coalesce("(1,1):(3,5)"_L) == "1:0"_L);
static_assert(coalesce("(((3,4)),5):(((15,45)),3)"_L, make_tree(1)) == "(12,5):(15,3)"_L);
static_assert(coalesce_law("(2,(1,3)):(3,(7,1))"_L, coalesce("(2,(1,3)):(3,(7,1))"_L)));
static_assert(filter("(2,4,2):(4,1,0)"_L) == "(2,4):(4,1)"_L);
static_assert(filter_zeros("(9,9):(0,1)"_L) == "(1,9):(0,1)"_L);

TEST(Coalesce, Law) {
  holds_often(31, 100000, [](random_source& r) {
    layout const l = random_layout(r);
    ASSERT_TRUE(coalesce_law(l, coalesce(l))) << to_string(l);
  });
}

TEST(Coalesce, LawWithProfile) {
  holds_often(32, 100000, [](random_source& r) {
    layout const l = random_layout(r);
    tree profile(1);
    if (r.one_in(2)) profile = r.one_in(2) ? make_tree(1) : make_tree(1, 1);
    ASSERT_TRUE(coalesce_profile_law(l, profile, coalesce(l, profile)))
        << to_string(l) << " " << to_string(profile);
  });
}

TEST(Coalesce, FilterKeepsTheSetOfOffsets) {
  holds_often(33, 100000, [](random_source& r) {
    layout const l = random_layout(r, 32);
    layout const f = filter(l);
    std::set<i64> before;
    std::set<i64> after;
    for (i64 i = 0; i < size(l); ++i) before.insert(l(i));
    for (i64 i = 0; i < size(f); ++i) after.insert(f(i));
    ASSERT_EQ(before, after) << to_string(l);
  });
}

TEST(Coalesce, RefusesAProfileThatIsFiner) {
  EXPECT_THROW(coalesce("8:1"_L, make_tree(1, 1)), rejected);  // TW0110
}

}  // namespace
