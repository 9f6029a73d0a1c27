// SPDX-License-Identifier: Apache-2.0
// composition_test.cpp  A(B(c)), and refusals exactly where no layout says it.
#include <gtest/gtest.h>

#include "tests/effort.hpp"
#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(composition("(4,8):(8,1)"_L, "4:2"_L) == "(2,2):(16,1)"_L);
static_assert(composition("(8,8,4):(1,8,64)"_L, "8:32"_L) == "8:32"_L);
static_assert(composition("(4,8):(8,1)"_L, tile(2, 4)) == "(2,4):(8,1)"_L);
static_assert(composition("(4,8,2):(8,1,32)"_L, tile("2:2"_L, any)) == "(2,8):(16,1)"_L);
static_assert(composition("(4,8):(8,1)"_L, 4) == "4:8"_L);
static_assert(composition("(4):(1)"_L, "(4):(-1)"_L) == "(4):(-1)"_L);
static_assert(composition("(4,(2,3)):(6,(3,1))"_L, "(2,4):(1@1@1,1@0)"_L) == "(2,4):(1,6)"_L);
static_assert(composition_law("(4,(2,16)):(1,(4,8))"_L, "32:4"_L,
                              composition("(4,(2,16)):(1,(4,8))"_L, "32:4"_L)));
static_assert(composition(swizzled(make_swizzle(1, 0, 1), "(4,8):(8,1)"_L), "4:2"_L).sw ==
              make_swizzle(1, 0, 1));

std::string composition_refusal(layout const& a, tiler const& b) {
  try {
    return to_string(composition(a, b));
  } catch (rejected const& e) {
    return e.why().code;
  }
}

TEST(Composition, Law) {
  holds_often(41, 100000, [](random_source& r) {
    layout const a = random_layout(r);
    layout const b = random_layout(r, 32);
    ASSERT_TRUE(composition_law(a, b, composition(a, b))) << to_string(a) << " o " << to_string(b);
  });
}

/// TW0106 is not over-cautious: the offsets A(B(c)) are no sum of what the modes of B give alone,
/// so no layout of B's profile exists.
TEST(Composition, CarryIsRefusedOnlyWhereNoLayoutExists) {
  random_source r(42);
  int seen = 0;
  for (int i = 0; i < tw::test::sample(200000); ++i) {
    layout const a = random_layout(r, 48);
    layout const b = random_layout(r, 24);
    if (composition_refusal(a, b) != "TW0106") continue;
    ++seen;
    bool sums = true;
    for (i64 c = 0; c < size(b); ++c) {
      tree const at = idx2crd(c, b.shape);
      i64 parts = 0;
      for (int k = 0; k < b.shape.n; ++k) parts += a(at.leaf[k].v * b.stride[k].v);
      sums = sums && parts == a(b(c));
    }
    ASSERT_FALSE(sums) << to_string(a) << " o " << to_string(b);
  }
  EXPECT_GT(seen, tw::test::sample(1000));
}

TEST(Composition, RefusesWhereTheReferenceIsSilentlyWrong) {
  EXPECT_EQ(composition_refusal("(2,3,8):(1,2,0)"_L, "(12,4):(4,1)"_L), "TW0104");
  EXPECT_EQ(composition_refusal("(4,8):(8,1)"_L, "6:1"_L), "TW0105");
  EXPECT_EQ(composition_refusal("(4,8):(8,1)"_L, "(2,2):(1,3)"_L), "TW0106");
  EXPECT_EQ(composition_refusal("(4,8):(8,1)"_L, "(2,2):(1,-2)"_L), "TW0107");
  EXPECT_EQ(composition_refusal("(4,8):(8,1)"_L, tile(2, 2, 2)), "TW0111");
  EXPECT_EQ(composition_refusal("(6,4):(4,1)"_L, "Sw<1,0,1> o 0 o 6:1"_L), "TW0116");
  EXPECT_EQ(composition_refusal("(4,2):(2,1)"_L, "Sw<1,0,1> o 0 o 16:1"_L), "TW0116") << "beyond A";
}

/// A composition that stays inside one extent needs no divisibility.
TEST(Composition, StaysInsideAnExtent) {
  EXPECT_EQ(composition_refusal("(10,4):(1,20)"_L, "3:3"_L), "3:3");
  EXPECT_EQ(composition_refusal("(10,4):(1,20)"_L, "4:3"_L), "4:3");
  EXPECT_EQ(composition_refusal("(10,4):(1,20)"_L, "5:3"_L), "TW0104");
}

static_assert(with_shape("(4,8):(8,1)"_L, make_tree(2, 16)) == "(2,(2,8)):(8,(16,1))"_L);
static_assert(composition("(4,$0):(1,$1)"_L, "(2,$0):(1,4)"_L) == "(2,$0):(1,$1)"_L);

}  // namespace
