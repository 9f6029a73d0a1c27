// SPDX-License-Identifier: Apache-2.0
// wide_test.cpp  Tensors of more than 2^31 and 2^32 elements: every operation counts in 64 bits.
#include <gtest/gtest.h>

#include <string>

#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

// 70,000 x 70,000, row-major: 4.9e9 cells; and a pitch of 2^33
constexpr layout square = "(70000,70000):(70000,1)"_L;
constexpr layout pitched = "(4,(8,2)):(8589934592,(1,4294967296))"_L;

static_assert(size(square) == 4900000000 && cosize(square) == 4900000000);
static_assert(square(69999, 69999) == 4899999999 && square(4899999999) == 4899999999);
static_assert(square(idx2crd(4899999998, square.shape)) == square(4899999998));
static_assert(cosize(pitched) == 3 * 8589934592 + 4294967296 + 8);
static_assert(coalesce("(65536,65536,2):(1,65536,4294967296)"_L) == "8589934592:1"_L);
static_assert(composition(square, "(2,2):(35000,2450000000)"_L) == "(2,2):(2450000000,35000)"_L);
static_assert(zipped_divide(square, tile(128, 64)) ==
              "((128,64),(547,1094)):((70000,1),(8960000,64))"_L);
static_assert(zipped_divide(square, tile(128, 64))(127 + 128 * 63, 546) ==
              127 * 70000 + 63 + i64{546} * 8960000);
static_assert(complement(layout(2, i64{1} << 40), i64{1} << 42) ==
              "(1099511627776,2):(1,2199023255552)"_L);
static_assert(logical_product("4:4294967296"_L, tiler(2)) == "(4,2):(4294967296,1)"_L);
static_assert(right_inverse("(2,4294967296):(4294967296,1)"_L) == "(4294967296,2):(2,1)"_L);
static_assert(left_inverse("(4294967296,2):(2,1)"_L)(i64{1} << 32) == i64{1} << 31);
static_assert(upcast("(8,8589934592):(8589934592,1)"_L, 8) == "(8,1073741824):(1073741824,1)"_L);
static_assert(slice(pitched, make_tree(3, make_tree(any, 1))).offset ==
              3 * 8589934592 + 4294967296);
static_assert(local_tile(square, tile(128, 64), make_tree(546, 1093)).offset ==
              i64{546} * 8960000 + 1093 * 64);
static_assert(swizzled(make_swizzle(3, 4, 3), pitched)(3, 7) == 3 * 8589934592 + 7);
static_assert(tile_to_shape("(8,64):(64,1)"_L, make_tree(65536, 131072))(65535, 131071) ==
              (i64{1} << 33) - 1);
static_assert(max_alignment(pitched) == 8);
static_assert(bound(row_major_view(), arguments<3>{{70000, 70000, 70000}}) == square);

/// The text of numbers beyond 32 bits, and an index that runs through them.
TEST(Wide, TextAndIndices) {
  holds_often(61, 20000, [](random_source& r) {
    layout l = random_layout(r);
    for (int i = 0; i < l.shape.n; ++i) {
      l.stride[i] = times(l.stride[i], i64{1} << r.below(30));
      if (r.one_in(3)) l.shape.leaf[i] = num{1 + r.below(i64{1} << 20)};
    }
    std::string const text = to_string(l);
    ASSERT_EQ(parse_layout(text.data(), static_cast<int>(text.size())), l) << text;
    i64 const index = r.below(size(l));
    i64 sum = 0;  // digit by digit
    i64 rest = index;
    for (int i = 0; i < l.shape.n; ++i) {
      sum += rest % l.extent(i) * l.stride[i].v;
      rest /= l.extent(i);
    }
    ASSERT_EQ(l(index), sum) << text;
    ASSERT_EQ(coalesce(l)(index), sum) << text;
    layout const b(1 + r.below(index + 1), 1);
    ASSERT_EQ(composition(l, b)(size(b) - 1), l(size(b) - 1)) << text;
  });
}

TEST(Wide, OverflowIsRefused) {
  for (auto const& ask :
       {+[] { size("(4294967296,4294967296):(1,1)"_L); },
        +[] { cosize(layout(i64{1} << 40, i64{1} << 40)); }, +[] { layout(4, i64{1} << 62)(3); },
        +[] { coalesce("(4294967296,4294967296):(1,4294967296)"_L); }}) {
    try {
      ask();
      ADD_FAILURE();
    } catch (rejected const& e) {
      EXPECT_EQ(e.why().code, "TW0113") << e.what();
    }
  }
}

}  // namespace
