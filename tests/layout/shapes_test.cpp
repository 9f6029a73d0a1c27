// SPDX-License-Identifier: Apache-2.0
// shapes_test.cpp  Arithmetic and order of shapes.
#include <gtest/gtest.h>

#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(ceil_div(make_shape(make_shape(3, 9, 3), make_shape(2, 3)), 4) ==
              make_shape(make_shape(1, 5, 3), make_shape(2, 3)));
static_assert(shape_div(make_shape(make_shape(6, 1, 2), 5), 12) ==
              make_shape(make_shape(1, 1, 1), 5));
static_assert(round_up(make_shape(16, 4), make_shape(3, 3)) == make_shape(18, 6));
static_assert(colex_less(make_coord(2, 0), make_coord(0, 3)));
static_assert(lex_less(make_coord(0, 3), make_coord(2, 0)));
static_assert(!elem_less(make_coord(0, 3), make_coord(2, 0)));
static_assert(crd2crd(make_coord(1, make_coord(6, 3)), make_shape(8, make_shape(8, 8)),
                      make_shape(8, 64)) == make_coord(1, 30));

TEST(Shapes, ColexIsTheOrderOfIndices) {
  holds_often(151, 100000, [](random_source& r) {
    tree const shape = random_shape(r, 60);
    i64 const i = r.below(size(shape));
    i64 const j = r.below(size(shape));
    ASSERT_EQ(colex_less(idx2crd(i, shape), idx2crd(j, shape)), i < j) << to_string(shape);
    ASSERT_EQ(crd2crd(idx2crd(i, shape), shape, tree(size(shape))), tree(i));
  });
}

TEST(Shapes, DivisionRoundsUp) {
  holds_often(152, 100000, [](random_source& r) {
    tree const shape = random_shape(r, 200);
    i64 const n = 1 + r.below(12);
    tree const d = shape_div(shape, tree(n));
    ASSERT_EQ(d, ceil_div(shape, tree(n))) << to_string(shape);
    ASSERT_GE(size(d) * n, size(shape)) << to_string(shape);
    ASSERT_TRUE(!evenly_divides(shape, n) || size(d) * n == size(shape)) << to_string(shape);
  });
}

TEST(Shapes, Refuses) {
  try {
    shape_div(make_shape(6, 4), tree(4));
    ADD_FAILURE();
  } catch (rejected const& e) {
    EXPECT_EQ(e.why().code, "TW0124");
  }
  EXPECT_THROW(elem_less(make_coord(1, 2), make_coord(1)), rejected);  // TW0110
}

static_assert(product_each(make_tree(make_tree(2, 4), 8)) == make_tree(8, 8));
static_assert(product_each(make_tree(make_tree(2, arg(0)), 8)) == make_tree(times(arg(0), 2), 8));
static_assert(inner_product(make_tree(3, 5), make_tree(8, 1)) == 29);
static_assert(elem_scale(make_tree(arg(0), 5), make_tree(8, 2)) == make_tree(times(arg(0), 8), 10));
static_assert(round_up(make_tree(arg(0), 5), make_tree(128, 4)) ==
              make_tree(times(arg(0, 128), 128), 8));

}  // namespace
