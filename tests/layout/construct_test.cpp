// SPDX-License-Identifier: Apache-2.0
// construct_test.cpp  Compact layouts of a shape.
#include <gtest/gtest.h>

#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(make_layout(4, 8) == "(4,8):(1,4)"_L);
static_assert(make_layout_right(make_shape(4, make_shape(2, 8))) == "(4,(2,8)):(16,(8,1))"_L);
static_assert(make_ordered_layout(make_shape(4, 16, 2), make_tree(3, 2, 3)) ==
              "(4,16,2):(16,1,64)"_L);
static_assert(make_ordered_layout(make_shape(make_shape(2, 3), 4), make_tree(1, 0)) ==
              "((2,3),4):((4,8),1)"_L);
static_assert(make_identity_layout(make_shape(2, 3)) == "(2,3):(1@0,1@1)"_L);

static_assert(make_layout_like("(4,1,4,2):(36,3,9,0)"_L) == "(4,1,4,2):(4,0,1,0)"_L);
static_assert(make_fragment_like("((2,2),2,4):((1,8$0),32$0,16)"_L) ==
              "((2,2),2,4):((1,2),16,4)"_L);
static_assert(make_fragment_like("(4,16,2):(96,1,48)"_L) == "(4,16,2):(1,4,64)"_L);

TEST(Construct, LikeAnotherLayout) {
  holds_often(112, 100000, [](random_source& r) {
    layout const l = random_layout(r, 60);
    layout const fragment = make_fragment_like(l);
    ASSERT_TRUE(meaning::sorted(meaning::offsets(fragment)) == meaning::offsets(layout(size(l), 1)))
        << to_string(l);
    layout const like = make_layout_like(l);
    ASSERT_EQ(cosize(like), size(filter_zeros(l))) << to_string(l);
    for (int i = 0; i < l.shape.n; ++i) {
      for (int j = 0; j < l.shape.n; ++j) {
        bool const before = l.stride[i].v < l.stride[j].v && l.extent(i) > 1 && l.extent(j) > 1;
        ASSERT_TRUE(!before || like.stride[i].v < like.stride[j].v) << to_string(l);
      }
    }
  });
}

TEST(Construct, CompactInEveryOrder) {
  holds_often(111, 100000, [](random_source& r) {
    tree const shape = random_shape(r, 60);
    tree order = shape;
    for (int i = 0; i < order.n; ++i) order.leaf[i] = num{r.below(3)};
    layout const l = make_ordered_layout(shape, order);
    ASSERT_TRUE(meaning::sorted(meaning::offsets(l)) == meaning::offsets(layout(size(shape), 1)))
        << to_string(l);
    for (int i = 0; i < l.shape.n; ++i) {
      for (int j = 0; j < l.shape.n; ++j) {
        bool const before =
            order.leaf[i].v < order.leaf[j].v || (i < j && order.leaf[i].v == order.leaf[j].v);
        bool const seen = before && l.extent(i) > 1 && l.extent(j) > 1;
        ASSERT_TRUE(!seen || l.stride[i].v < l.stride[j].v) << to_string(l);
      }
    }
  });
}

static_assert(make_fragment_like(make_tree(4, 2)) == "(4,2):(1,4)"_L);
static_assert(make_identity_layout(make_tree(arg(0), arg(1))) == "($0,$1):(1@0,1@1)"_L);

}  // namespace
