// SPDX-License-Identifier: Apache-2.0
// divide_test.cpp  Tiles and where they are.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/effort.hpp"
#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(logical_divide("(4,8):(8,1)"_L, tile(2, 4)) == "((2,2),(4,2)):((8,16),(1,4))"_L);
static_assert(zipped_divide("(4,8):(8,1)"_L, tile(2, 4)) == "((2,4),(2,2)):((8,1),(16,4))"_L);
static_assert(tiled_divide("(4,8):(8,1)"_L, tile(2, 4)) == "((2,4),2,2):((8,1),16,4)"_L);
static_assert(flat_divide("(4,8):(8,1)"_L, tile(2, 4)) == "(2,4,2,2):(8,1,16,4)"_L);
static_assert(logical_divide("(16,4):(4,1)"_L, tile(8, any)) == "((8,2),4):((4,32),1)"_L);
static_assert(zipped_divide("(4,8,3):(8,1,32)"_L, tile(2)) == "((2),(2,8,3)):((8),(16,1,32))"_L);
static_assert(logical_divide_law("(4,8):(8,1)"_L, "4:2"_L,
                                 logical_divide("(4,8):(8,1)"_L, "4:2"_L)));

// a ragged extent counts as rounded up
static_assert(zipped_divide("(10,5):(5,1)"_L, tile(4, 2)) == "((4,2),(3,3)):((5,1),(20,2))"_L);
static_assert(logical_divide("(9,4):(1,16)"_L, "4:1"_L) == "(4,(3,4)):(1,(4,16))"_L);

std::string divide_refusal(layout const& l, tiler const& t) {
  try {
    return to_string(zipped_divide(l, t));
  } catch (rejected const& e) {
    return e.why().code;
  }
}

TEST(Divide, Law) {
  int exact = 0;
  holds_often(61, 100000, [&exact](random_source& r) {
    layout const l = random_layout(r);
    layout const t = random_layout(r, 12);
    ASSERT_TRUE(logical_divide_law(l, t, logical_divide(l, t)))
        << to_string(l) << " / " << to_string(t);
    exact += size(logical_divide(l, t)) == size(l) ? 1 : 0;
  });
  EXPECT_GT(exact, tw::test::sample(20000));
}

TEST(Divide, TheFourDividesAgree) {
  holds_often(62, 100000, [](random_source& r) {
    layout const l = random_layout(r, 48);
    if (rank(l) < 2) return;
    tiler const t = r.one_in(4) ? tile(random_layout(r, 4), 1 + r.below(2))
                                : tile(1 + r.below(3), 1 + r.below(2));
    ASSERT_TRUE(zipped_divide_law(l, t, zipped_divide(l, t)) &&
                tiled_divide_law(l, t, tiled_divide(l, t)) &&
                flat_divide_law(l, t, flat_divide(l, t)))
        << to_string(l) << " / " << to_string(t);
  });
}

TEST(Divide, RaggedTilesCoverEveryCell) {
  holds_often(63, 100000, [](random_source& r) {
    layout const l = make_layout(make_shape(1 + r.below(9), 1 + r.below(9)));
    i64 const m = 1 + r.below(5);
    i64 const n = 1 + r.below(5);
    layout const d = zipped_divide(make_identity_layout(l.shape), tile(m, n));
    std::set<std::pair<i64, i64>> cells;
    for (i64 i = 0; i < size(d); ++i) {
      tree const at = coordinate_at(d, i);
      i64 const row = at.n > 0 ? at.leaf[0].v : 0;
      i64 const column = at.n > 1 ? at.leaf[1].v : 0;
      if (row < l.extent(0) && column < l.extent(1)) cells.emplace(row, column);
    }
    ASSERT_EQ(std::ssize(cells), size(l)) << to_string(l) << " / " << m << "," << n;
    ASSERT_EQ(size(d), ceil_div(l.extent(0), m) * m * ceil_div(l.extent(1), n) * n);
  });
}

TEST(Divide, EvenlyDividesMeansWholeTiles) {
  holds_often(64, 100000, [](random_source& r) {
    tree const shape = random_shape(r, 200);
    i64 const n = 1 + r.below(9);
    layout const l = make_identity_layout(shape);
    bool const whole = evenly_divides(shape, n);
    ASSERT_TRUE(!whole || size(logical_divide(l, n)) == size(l)) << to_string(shape) << " / " << n;
  });
}

TEST(Divide, Refuses) {
  EXPECT_EQ(divide_refusal("(4,8):(8,1)"_L, tile(2, 2, 2)), "TW0111");
  EXPECT_EQ(divide_refusal("((4,3),6):((18,6),1)"_L, tile(6)), "TW0105") << "the tile would be cut";
  EXPECT_EQ(divide_refusal("(3,4):(4,1)"_L, "4:2"_L), "TW0104");
  EXPECT_EQ(divide_refusal("10:1"_L, "(2,4):(6,1)"_L), "TW0108")
      << "a tile with holes no copy can fill";
}

TEST(Divide, AModeThatIsKeptIsAPairOrARest) {
  EXPECT_EQ(zipped_divide("(4,8):(8,1)"_L, tile(2, any)), "((2,1),(2,8)):((8,0),(16,1))"_L);
  EXPECT_EQ(tiled_divide("(4,8):(8,1)"_L, tile(any, 4)), "((1,4),4,2):((0,1),8,4)"_L);
  EXPECT_EQ(flat_divide("(4,(2,2,2)):(8,(4,2,1))"_L, tile(2, any)),
            "(2,1,2,(2,2,2)):(8,0,16,(4,2,1))"_L);
  EXPECT_EQ(zipped_divide("(4,(2,4)):(8,(4,1))"_L, tile(2, any)), "((2,2),(2,4)):((8,4),(16,1))"_L)
      << "two modes are a pair already";
}

}  // namespace
