// SPDX-License-Identifier: Apache-2.0
// local_test.cpp  One tile, one thread's part.
#include <gtest/gtest.h>

#include <set>

#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(local_tile("(16,32):(32,1)"_L, tile(8, 4), make_coord(1, any)).kept ==
              "(8,4,8):(32,1,4)"_L);
static_assert(local_tile("(16,32):(32,1)"_L, tile(8, 4), make_coord(1, any)).offset == 256);
static_assert(local_tile("(16,32):(1,16)"_L, make_shape(8, 8, 4), make_coord(0, 0, any),
                         make_coord(any, 1, 1))
                  .kept == "(8,4,8):(1,16,64)"_L);
static_assert(local_partition("(4,2):(2,1)"_L, "(2,2):(2,1)"_L, 1).offset == 1);

TEST(Local, TilesAreThePartsOfADivide) {
  holds_often(191, 100000, [](random_source& r) {
    i64 const m = 1 + r.below(3);
    i64 const n = 1 + r.below(3);
    layout l = make_ordered_layout(make_shape(m * (1 + r.below(4)), n * (1 + r.below(4))),
                                   make_tree(r.below(2), 1));
    if (r.one_in(3)) l = swizzled(make_swizzle(1, static_cast<int>(r.below(2)), 2), l);
    layout const d = zipped_divide(l, tile(m, n));
    i64 const i = r.below(l.extent(0) / m);
    i64 const j = r.below(l.extent(1) / n);
    sliced const one = local_tile(l, tile(m, n), make_coord(i, j));
    for (i64 x = 0; x < size(one.kept); ++x) {
      ASSERT_EQ(one.kept(x) + one.offset, d(x, make_coord(i, j))) << to_string(l);
    }
  });
}

TEST(Local, PartsOfThreadsAreAllOfIt) {
  holds_often(192, 30000, [](random_source& r) {
    layout const threads =
        make_ordered_layout(make_shape(1 + r.below(3), 1 + r.below(3)), make_tree(r.below(2), 1));
    layout const l =
        make_layout(threads.extent(0) * (1 + r.below(3)), threads.extent(1) * (1 + r.below(3)));
    std::set<i64> cells;
    for (i64 t = 0; t < size(threads); ++t) {
      sliced const part = local_partition(l, threads, t);
      for (i64 x = 0; x < size(part.kept); ++x) cells.insert(part.kept(x) + part.offset);
    }
    ASSERT_EQ(std::ssize(cells), size(l)) << to_string(l) << " " << to_string(threads);
  });
}

// a tile of coordinates, of a matrix whose extents are known at run time
static_assert(local_tile_identity(make_tree(arg(0), arg(1)), tile(128, 64), make_tree(2, 3))
                  .origin == make_tree(256, 192));
static_assert(local_tile_identity(make_tree(arg(0), arg(1)), tile(128, 64), make_tree(2, any))
                  .kept == "(128,64,$1/64):(1@0,1@1,64@1)"_L);
static_assert(local_tile("($0,$1):($2,1)"_L, tile(128, 64), make_tree(0, any)).kept ==
              "(128,64,$1/64):($2,1,64)"_L);
static_assert(local_partition("($0,$1):($2,1)"_L, "(32,4):(4,1)"_L, 0).kept ==
              "($0/32,$1/4):(32$2,4)"_L);

}  // namespace
