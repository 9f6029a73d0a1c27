// SPDX-License-Identifier: Apache-2.0
// offset_test.cpp  offset<L>(...) is L(...), in 32 bits.
#include <gtest/gtest.h>

#include "tests/layout/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

template <layout L>
void all_agree() {
  for (i64 i = 0; i < size(L); ++i) ASSERT_EQ(offset<L>(i), L(i)) << to_string(L);
  if constexpr (rank(L) == 2) {
    for (int i = 0; i < size(mode(L, 0)); ++i) {
      for (int j = 0; j < size(mode(L, 1)); ++j)
        ASSERT_EQ(offset<L>(i, j), L(i, j)) << to_string(L);
    }
  }
}

constexpr layout tile_of_atom =
    tile_to_shape(swizzled(make_swizzle(3, 3, 3), "(8,64):(64,1)"_L), make_shape(32, 128));

TEST(Offset, IsTheLayout) {
  all_agree<"(4,8):(8,1)"_L>();
  all_agree<"((2,2),(2,4)):((1,4),(2,8))"_L>();
  all_agree<"((6,2),(4,5)):((1,40),(10,200))"_L>();
  all_agree<"12:3"_L>();
  all_agree<"Sw<1,0,1> o 3 o (4,4):(4,1)"_L>();
  all_agree<tile_of_atom>();
  all_agree<zipped_divide(tile_of_atom, tile(8, 16))>();
}

static_assert(offset<tile_of_atom>(9, 17) == tile_of_atom(9, 17));

}  // namespace
