// SPDX-License-Identifier: Apache-2.0
// common_test.cpp  Vectors that two layouts share, alignment.
#include <gtest/gtest.h>

#include <set>

#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(max_common_vector("(9,10):(1,9)"_L, "(9,10):(1,9)"_L) == 90);
static_assert(max_common_vector("((12,(10,1)),2):((1,(12,4)),8)"_L, "240:1"_L) == 120);
static_assert(max_common_layout("((8),4):((4),1)"_L, "((8),4):((4),1)"_L) == "(4,8):(8,1)"_L);
static_assert(max_common_vector("Sw<2,2,3> o 0 o (2,64):(1,2)"_L, "(2,64):(1,2)"_L) == 4);
static_assert(max_alignment("(8,2):(1,12)"_L) == 4 && max_alignment("12:3"_L) == 1);
static_assert(domain_distribute(make_shape(16, 4), 32) == "32:1"_L);
static_assert(domain_distribute(make_shape(16, 2), 6) == "2:1"_L);

TEST(Common, LayoutLaw) {
  holds_often(171, 100000, [](random_source& r) {
    layout const a = random_layout(r, 48);
    layout const b = r.one_in(2) ? a : make_layout_like(a);
    layout const c = max_common_layout(a, b);
    for (i64 i = 0; i < size(c); ++i) {
      ASSERT_EQ(a(c(i)), i) << to_string(a) << " " << to_string(b);
      ASSERT_EQ(b(c(i)), i) << to_string(a) << " " << to_string(b);
    }
  });
}

/// Nothing longer is common: the whole run of b agrees with a for less than twice as many.
TEST(Common, LayoutIsTheLongest) {
  holds_often(172, 100000, [](random_source& r) {
    layout const a = random_layout(r, 24);
    layout b = r.one_in(2) ? a : make_layout_like(a);
    if (r.one_in(2)) b.stride[b.shape.n - 1].v += 1;
    layout const c = max_common_layout(a, b);
    layout const whole = right_inverse(b);
    i64 run = 0;
    while (run < size(whole) && a(whole(run)) == run) ++run;
    ASSERT_LT(run, 2 * size(c)) << to_string(a) << " " << to_string(b);
  });
}

/// Vectors of that length are contiguous and aligned wherever one begins.
TEST(Common, AlignmentLaw) {
  holds_often(173, 100000, [](random_source& r) {
    layout l = random_layout(r, 48);
    if (r.one_in(3)) l = swizzled(make_swizzle(1, static_cast<int>(r.below(3)), 2), l);
    i64 const n = max_alignment(l);
    std::set<i64> offsets;
    for (i64 i = 0; i < size(l); ++i) offsets.insert(l(i));
    for (i64 const o : offsets) {
      for (i64 k = 0; k < n; ++k) ASSERT_TRUE(offsets.contains(o / n * n + k)) << to_string(l);
    }
  });
}

TEST(Common, DistributedWorkersHaveTheirOwnIndices) {
  holds_often(174, 100000, [](random_source& r) {
    tree const shape = random_shape(r, 100);
    i64 const n = 1 + r.below(16);
    layout const d = domain_distribute(shape, n);
    ASSERT_EQ(n % size(d), 0) << to_string(shape);
    ASSERT_EQ(size(shape) % size(d), 0) << to_string(shape);
    std::set<i64> seen;
    for (i64 i = 0; i < size(d); ++i) seen.insert(d(i));
    ASSERT_EQ(std::ssize(seen), size(d));
    ASSERT_LT(*seen.rbegin(), size(shape));
  });
}

}  // namespace
