// SPDX-License-Identifier: Apache-2.0
// swizzle_test.cpp  An involution on offsets; swizzled layouts.
#include <gtest/gtest.h>

#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(make_swizzle(3, 4, 3)(0x80) == 0x90 && make_swizzle(3, 4, 3)(0x3f) == 0x3f);
static_assert(make_swizzle(2, 1, 5).y_mask() == 192 && make_swizzle(2, 1, 5).z_mask() == 6);
static_assert(make_swizzle_of_masks(192, 6) == make_swizzle(2, 1, 5));
static_assert(make_swizzle_of_masks(6, 24) == make_swizzle(2, 1, -2));
static_assert(compose(make_swizzle(1, 4, 3), make_swizzle(2, 5, 3)) == make_swizzle(3, 4, 3));
static_assert(swizzle_law(make_swizzle(3, 4, 3)) && swizzle_law(make_swizzle(2, 1, -2)));
static_assert("Sw<2,2,3> o 0 o (4,32):(32,1)"_L(1) == 36);

TEST(Swizzle, Law) {
  for (int bits = 0; bits <= 4; ++bits) {
    for (int base = 0; base <= 4; ++base) {
      for (int shift = -5; shift <= 5; ++shift) {
        if ((shift < 0 ? -shift : shift) < bits) continue;
        EXPECT_TRUE(swizzle_law(make_swizzle(bits, base, shift))) << bits << base << shift;
      }
    }
  }
}

TEST(Swizzle, IsASwizzledLayoutsOutermostFunction) {
  holds_often(91, 100000, [](random_source& r) {
    layout const l = random_layout(r, 48);
    swizzle const s = make_swizzle(static_cast<int>(r.below(3)), static_cast<int>(r.below(3)), 2);
    layout const sl = swizzled(s, l);
    for (i64 i = 0; i < size(l); ++i) ASSERT_EQ(sl(i), s(l(i))) << to_string(sl);
    ASSERT_TRUE(meaning::same_function(coalesce(sl), sl)) << to_string(sl);
    layout const d = zipped_divide(sl, tile(1 + r.below(2)));
    ASSERT_EQ(linear_part(d), zipped_divide(l, tile(size(mode(mode(d, 0), 0))))) << to_string(sl);
    i64 largest = 0;
    for (i64 i = 0; i < size(l); ++i) largest = larger(largest, sl(i));
    ASSERT_EQ(cosize(sl), largest + 1) << to_string(sl);
  });
}

TEST(Swizzle, ComposesWhereBothReadUnchangedBits) {
  int composed = 0;
  random_source r(92);
  for (int i = 0; i < 20000; ++i) {
    swizzle const a = make_swizzle(static_cast<int>(r.below(3)), static_cast<int>(r.below(4)), 3);
    swizzle const b = make_swizzle(static_cast<int>(r.below(3)), static_cast<int>(r.below(4)), 3);
    try {
      swizzle const c = compose(a, b);
      for (i64 x = 0; x < 512; ++x) ASSERT_EQ(c(x), a(b(x)));
      ++composed;
    } catch (rejected const& e) {
      ASSERT_EQ(e.why().code, "TW0115");
    }
  }
  EXPECT_GT(composed, 10000);
}

// moved through a layout that moves whole bits
static_assert(composition("(8,8):(8,1)"_L, "Sw<2,0,-3> o 0 o (8,8):(8,1)"_L) ==
              "Sw<2,0,3> o 0 o (8,8):(1,8)"_L);

TEST(Swizzle, MovesThroughLayoutsOfBits) {
  holds_often(93, 100000, [](random_source& r) {
    layout const a = make_ordered_layout(make_shape(i64{1} << r.below(3), i64{1} << r.below(4), 2),
                                         make_tree(r.below(3), r.below(3), 1));
    swizzle const s = make_swizzle(1, static_cast<int>(r.below(3)), r.one_in(2) ? 1 : -2);
    layout const b = swizzled(s, layout(size(a), 1));
    layout const c = composition(a, b);
    for (i64 i = 0; i < size(a); ++i) ASSERT_EQ(c(i), a(b(i))) << to_string(a) << to_string(b);
  });
}

TEST(Swizzle, Refuses) {
  for (auto const make : {+[] { make_swizzle(3, 4, 2); }, +[] { make_swizzle(-1, 4, 2); },
                          +[] { make_swizzle(3, 60, 3); }, +[] { make_swizzle_of_masks(5, 2); },
                          +[] { make_swizzle_of_masks(6, 1); }}) {
    EXPECT_THROW(make(), rejected);
  }
}

// a swizzle of memory, counted in elements of another width
static_assert(recast(make_swizzle(3, 4, 3), 8, 16) == make_swizzle(3, 3, 3));
static_assert(recast(make_swizzle(3, 3, 3), 16, 8) == make_swizzle(3, 4, 3));
static_assert(upcast(make_swizzle(3, 2, 3), 16) == swizzle{1, 0, 3});
static_assert(downcast(make_swizzle(2, 3, 3), 4) == make_swizzle(2, 5, 3));
static_assert(inverse(make_swizzle(2, 3, 3)) == make_swizzle(2, 3, 3));
static_assert(max_alignment(make_swizzle(3, 4, 3)) == 16);

}  // namespace
