// SPDX-License-Identifier: Apache-2.0
// slice_test.cpp  Fixing coordinates.
#include <gtest/gtest.h>

#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

// an offset without a swizzle moves out, once
static_assert(slice("Sw<0,0,0> o 7 o (4,8):(8,1)"_L, make_coord(2, any)).offset == 23);
static_assert(slice("Sw<0,0,0> o 7 o (4,8):(8,1)"_L, make_coord(2, any)).kept == "(8):(1)"_L);
static_assert(slice("(4,8):(8,1)"_L, make_coord(2, any)).kept == "(8):(1)"_L);
static_assert(slice("(4,8):(8,1)"_L, make_coord(2, any)).offset == 16);
static_assert(dice("(4,8):(8,1)"_L, make_coord(2, any)) == "(4):(8)"_L);
static_assert(slice("((8,2),(2,2)):((4,1),(32,2))"_L, make_coord(any, make_coord(any, 1))).kept ==
              "((8,2),2):((4,1),32)"_L);
static_assert(slice("(4,8):(8,1)"_L, tree(any)).kept == "(4,8):(8,1)"_L);

// bits that the swizzle does not mix any more are plain strides, some of them negative
static_assert(slice("Sw<1,1,2> o 0 o (8,2):(1,8)"_L, make_coord(2, any)).kept == "(2):(6)"_L);
static_assert(slice("Sw<3,0,-3> o 0 o (8,8):(1,8)"_L, make_coord(7, any)).kept == "(8):(-8)"_L);
static_assert(slice("Sw<3,0,-3> o 0 o (8,8):(1,8)"_L, make_coord(7, any)).offset == 63);
static_assert(slice("Sw<2,2,3> o 0 o (16,8):(8,1)"_L, make_coord(any, 3)).kept ==
              "Sw<2,2,3> o 0 o (16):(8)"_L);

TEST(Slice, Law) {
  holds_often(121, 100000, [](random_source& r) {
    layout l = random_layout(r, 48);
    if (r.one_in(3)) l = swizzled(make_swizzle(1, static_cast<int>(r.below(3)), 2), l);
    tree c = idx2crd(r.below(size(l)), l.shape);
    for (int i = 0; i < c.n; ++i) {
      if (r.one_in(2)) c.leaf[i] = any;
    }
    sliced const s = slice(l, c);
    if (s.kept.shape.n == 0) return;
    for (i64 x = 0; x < size(s.kept); ++x) {
      tree full = c;
      i64 index = x;  // one mode of the slice for each _
      for (int i = 0; i < c.n; ++i) {
        if (!is_any(c.leaf[i])) continue;
        full.leaf[i] = num{index % l.extent(i)};
        index /= l.extent(i);
      }
      ASSERT_EQ(s.kept(x) + s.offset, l(full)) << to_string(l) << " " << to_string(c);
    }
    ASSERT_EQ(size(s.kept) * size(dice(l, c)), size(l));
  });
}

}  // namespace
