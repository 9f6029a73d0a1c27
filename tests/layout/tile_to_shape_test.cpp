// SPDX-License-Identifier: Apache-2.0
// tile_to_shape_test.cpp  A block fills a shape: how shared-memory atoms become tiles.
#include <gtest/gtest.h>

#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

constexpr layout atom = swizzled(make_swizzle(3, 3, 3), "(8,64):(64,1)"_L);  // 128 B rows of bf16
constexpr layout tile_128x64 = tile_to_shape(atom, make_shape(128, 64));
static_assert(tile_128x64 == "Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))"_L);
static_assert(cosize(tile_128x64) == 128 * 64 && size(mode(tile_128x64, 0)) == 128);
static_assert(tile_to_shape(atom, make_shape(128, 128, 3)) ==
              "Sw<3,3,3> o 0 o ((8,16),(64,2),(1,3)):((64,512),(1,8192),(0,16384))"_L);
static_assert(tile_to_shape("(8,4):(4,1)"_L, make_shape(16, 8), make_tree(2, 1)) ==
              "((8,2),(4,2)):((4,64),(1,32))"_L);

TEST(TileToShape, FillsTheShapeOnceEach) {
  holds_often(81, 100000, [](random_source& r) {
    layout const block =
        make_ordered_layout(make_shape(1 + r.below(4), 1 + r.below(4)), make_tree(r.below(2), 1));
    tree const shape =
        make_shape(block.extent(0) * (1 + r.below(3)), block.extent(1) * (1 + r.below(3)));
    layout const l = tile_to_shape(block, shape, make_tree(r.below(2), r.below(2)));
    ASSERT_EQ(size(mode(l, 0)), shape.leaf[0].v);
    ASSERT_EQ(size(mode(l, 1)), shape.leaf[1].v);
    ASSERT_EQ(cosize(l), size(shape)) << to_string(block) << " in " << to_string(shape);
    ASSERT_TRUE(meaning::sorted(meaning::offsets(l)) == meaning::offsets(layout(size(shape), 1)))
        << to_string(block);
  });
}

TEST(TileToShape, RefusesAnUnfilledShape) {
  try {
    tile_to_shape(atom, make_shape(100, 64));
    ADD_FAILURE() << "accepted";
  } catch (rejected const& e) {
    EXPECT_EQ(e.why().code, "TW0118");
    EXPECT_EQ(e.why().got, "100");
  }
}

}  // namespace
