// SPDX-License-Identifier: Apache-2.0
// examples_test.cpp  The laws in the compiler: the same predicates hold for constant layouts.
#include <gtest/gtest.h>

#include "tests/law/laws.hpp"

namespace tw {
namespace {

constexpr layout row_major = "(4,8):(8,1)"_L;
constexpr layout nested = "((2,4),(3,5)):((1,16),(2,64))"_L;
constexpr layout repeated = "(4,2,3):(1,0,8)"_L;
constexpr layout swizzled_tile = "Sw<3,3,3> o 0 o (8,64):(64,1)"_L;

static_assert(coalesce_law(nested, coalesce(nested)));
static_assert(coalesce_law(swizzled_tile, coalesce(swizzled_tile)));
static_assert(filter_zeros_law(repeated, filter_zeros(repeated)));
static_assert(filter_law(repeated, filter(repeated)));
static_assert(composition_law(row_major, "(2,4):(2,8)"_L, composition(row_major, "(2,4):(2,8)"_L)));
static_assert(composition_law(swizzled_tile, "(8,8):(8,64)"_L,
                              composition(swizzled_tile, "(8,8):(8,64)"_L)));
static_assert(composition_int_law(row_major, 8, composition(row_major, 8)));
static_assert(composition_tiler_law(row_major, tile(2, 4), composition(row_major, tile(2, 4))));
static_assert(complement_law("(2,2):(1,6)"_L, 24, complement("(2,2):(1,6)"_L, 24)));
static_assert(right_inverse_law(row_major, right_inverse(row_major)));
static_assert(left_inverse_law(row_major, left_inverse(row_major)));
static_assert(max_common_layout_law(row_major, row_major, max_common_layout(row_major, row_major)));
static_assert(flatten_law(nested, flatten(nested)));
static_assert(take_law(repeated, 1, 3, take(repeated, 1, 3)));
static_assert(group_law(repeated, 0, 2, group(repeated, 0, 2)));
static_assert(logical_divide_law(row_major, tile(2, 4), logical_divide(row_major, tile(2, 4))));
static_assert(zipped_divide_law(row_major, tile(2, 4), zipped_divide(row_major, tile(2, 4))));
static_assert(tiled_divide_law(nested, tile(2, 3), tiled_divide(nested, tile(2, 3))));
static_assert(flat_divide_law(nested, tile(2, 3), flat_divide(nested, tile(2, 3))));
static_assert(blocked_product_law("(2,2):(2,1)"_L, "(3,2):(1,3)"_L,
                                  blocked_product("(2,2):(2,1)"_L, "(3,2):(1,3)"_L)));
static_assert(raked_product_law("(2,2):(2,1)"_L, "(3,2):(1,3)"_L,
                                raked_product("(2,2):(2,1)"_L, "(3,2):(1,3)"_L)));
static_assert(upcast_law("(8,4):(4,1)"_L, 2, upcast("(8,4):(4,1)"_L, 2)));
static_assert(downcast_law("(8,2):(2,1)"_L, 2, downcast("(8,2):(2,1)"_L, 2)));
static_assert(recast_law("(8,4):(4,1)"_L, 16, 32, recast("(8,4):(4,1)"_L, 16, 32)));
static_assert(swizzle_law(make_swizzle(3, 3, 3)));
static_assert(swizzle_law(make_swizzle(2, 4, -3)));
static_assert(size_law(nested, size(nested)) && cosize_law(nested, cosize(nested)));
static_assert(rank_law(nested, rank(nested)) && depth_law(nested, depth(nested)));

// A law notices a wrong result.
static_assert(!composition_law(row_major, "(2,4):(2,8)"_L, "(2,4):(16,1)"_L));
static_assert(!coalesce_law(nested, "120:1"_L));
static_assert(!complement_law("(2,2):(1,6)"_L, 24, "(3,2):(1,12)"_L));
static_assert(!zipped_divide_law(row_major, tile(2, 4), row_major));

/// The assertions above are the test; this makes them one that is counted.
TEST(Laws, HoldInTheCompiler) { SUCCEED(); }

}  // namespace
}  // namespace tw
