// SPDX-License-Identifier: Apache-2.0
// tree_test.cpp  Nesting: modes come back as they went in; profiles match as they should.
#include <gtest/gtest.h>

#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

constexpr tree t = make_tree(make_tree(4, 2), make_tree(2, 8));
static_assert(rank(t) == 2 && depth(t) == 2 && size(t) == 128 && t.n == 4);
static_assert(mode(t, 0) == make_tree(4, 2) && mode(mode(t, 1), 1) == tree(8));
static_assert(tree(8) != make_tree(8) && rank(tree(8)) == 1 && depth(make_tree(8)) == 1);
static_assert(flatten(t) == make_tree(4, 2, 2, 8) && flatten(tree(3)) == tree(3));

static_assert(congruent(t, make_tree(make_tree(1, 1), make_tree(1, 1))));
static_assert(weakly_congruent(make_tree(8, make_tree(2, 8)), t));
static_assert(!weakly_congruent(t, make_tree(8, 16)));
static_assert(compatible(make_tree(8, 16), t) && compatible(tree(128), t));
static_assert(!compatible(make_tree(16, 8), t) && !compatible(make_tree(8), tree(8)));

constexpr layout pair_of_modes = make_layout("(4,2):(1,4)"_L, "8:16"_L);
static_assert(pair_of_modes == "((4,2),8):((1,4),16)"_L &&
              mode(pair_of_modes, 0) == "(4,2):(1,4)"_L);
static_assert(rank(pair_of_modes) == 2 && depth(pair_of_modes) == 2 && size(pair_of_modes) == 64 &&
              cosize(pair_of_modes) == 120);

TEST(Tree, ModesComeBackAsTheyWentIn) {
  holds_often(11, 100000, [](random_source& r) {
    tree const a = random_shape(r, 100);
    tree const b = random_shape(r, 100);
    tree const pair = make_tree(a, b);
    ASSERT_EQ(mode(pair, 0), a) << to_string(pair);
    ASSERT_EQ(mode(pair, 1), b) << to_string(pair);
    ASSERT_EQ(size(pair), size(a) * size(b));
    ASSERT_TRUE(compatible(make_tree(size(a), b), pair)) << to_string(pair);
    ASSERT_TRUE(congruent(pair, pair));
  });
}

TEST(Tree, RefusesWhatItCannotHold) {
  auto const code = [](auto const& make) {
    try {
      make();
    } catch (rejected const& e) {
      return e.why().code;
    }
    return std::string("accepted");
  };
  EXPECT_EQ(code([] { parse_tree("(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)", 43); }), "TW0102");
  EXPECT_EQ(code([] { parse_tree("((((((((((((((((1))))))))))))))))", 33); }), "TW0103");
  EXPECT_EQ(code([] { make_tree(tree(1), tree()); }), "TW0103");
  EXPECT_EQ(code([] { mode(make_tree(1, 2), 2); }), "TW0112");
  EXPECT_EQ(code([] { make_layout(make_tree(4, 2), make_tree(1)); }), "TW0110");
  EXPECT_EQ(code([] { make_layout(make_tree(4, 0)); }), "TW0114");
  EXPECT_EQ(code([] { size(make_tree(i64{1} << 40, i64{1} << 40)); }), "TW0113");
}

}  // namespace
