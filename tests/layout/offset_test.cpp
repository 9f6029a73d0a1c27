// SPDX-License-Identifier: Apache-2.0
// offset_test.cpp  offset<L>(...) is L(...): in 32 bits, in 64, with run-time leaves, in parts.
#include <gtest/gtest.h>

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

// 32 bits where they are enough, 64 where not
constexpr layout huge = "(100000,100000):(100000,1)"_L;
constexpr layout just_32 = "(65536,65536):(65536,1)"_L;
constexpr layout more_than_32 = "(65536,65537):(65537,1)"_L;
static_assert(sizeof(offset<just_32>(1, 1)) == 4 && sizeof(offset<more_than_32>(1, 1)) == 8);
static_assert(offset<just_32>(65535, 65535) == 0xFFFFFFFF);
static_assert(offset<huge>(99999, 99999) == 9999999999 && offset<huge>(9999999999) == 9999999999);
static_assert(offset<"(4,3):(-3000000000,1)"_L>(3, 2) == -8999999998);
static_assert(sizeof(offset<swizzled(make_swizzle(1, 0, 40), layout(4, 1))>(1)) == 8);

/// Every coordinate of bound(L, args), through run-time values.
template <layout L, int K>
void agrees_at_run_time(arguments<K> const& args) {
  layout const l = bound(L, args);
  for (i64 i = 0; i < size(l); ++i) ASSERT_EQ(offset<L>(args, i), l(i)) << to_string(l);
  for (int i = 0; i < size(mode(l, 0)); ++i) {
    for (int j = 0; j < size(mode(l, 1)); ++j) {
      ASSERT_EQ(offset<L>(args, i, j), l(i, j)) << to_string(l);
    }
  }
}

TEST(Offset, WithRunTimeLeaves) {
  constexpr layout matrix = row_major_view();
  for (i64 m : {1, 7, 12}) {
    for (i64 k : {1, 5, 9}) {
      agrees_at_run_time<matrix>(arguments<3>{{m, k, k}});
      agrees_at_run_time<matrix>(arguments<3>{{m, k, 3000000000}});
      agrees_at_run_time<matrix>(arguments<3>{{m, k, -5}});
      agrees_at_run_time<zipped_divide(matrix, tile(4, 2))>(arguments<4>{{m, k, 11, 0}});
      agrees_at_run_time<"((2,$0),($1,3)):((1,2),(64,64$1))"_L>(arguments<2>{{m, k}});
      agrees_at_run_time<"((2,$0),(3,$1)):(($2,9),(5000000000,1))"_L>(arguments<3>{{m, k, 4}});
      agrees_at_run_time<"Sw<2,1,3> o 3 o ((2,$0),$1):((1,$2),64)"_L>(arguments<3>{{m, k, 2}});
    }
  }
  EXPECT_EQ(offset<"(4,8):(8,1)"_L>(arguments<0>{}, 3, 2), 26);
  EXPECT_EQ((offset<matrix>(arguments<3>{{1 << 20, 1 << 20, 1 << 20}}, 1048575, 1048575)),
            (i64{1} << 40) - 1);
}

/// Linear swizzles: the parts of two modes, one after the other, are both.
template <layout L>
void steps_add_up() {
  static_assert(is_linear(L));
  for (int i = 0; i < size(mode(L, 0)); ++i) {
    for (int j = 0; j < size(mode(L, 1)); ++j) {
      auto const row = offset<L>(i, 0);
      ASSERT_EQ(moved_by(row, parts_of<L>(0, j)), L(i, j)) << to_string(L) << i << " " << j;
      ASSERT_EQ(moved_by(offset<L>(0, j), parts_of<L>(i, 0)), L(i, j)) << to_string(L);
    }
  }
}

TEST(Offset, StepsOfLinearSwizzles) {
  steps_add_up<"Sw<3,3,3> o 0 o (8,64):(64,1)"_L>();
  steps_add_up<"Sw<2,4,3> o 0 o (64,8):(1,64)"_L>();
  steps_add_up<tile_of_atom>();
  steps_add_up<"Sw<2,0,-3> o 0 o (32,8):(1,32)"_L>();
  steps_add_up<"Sw<1,0,2> o 16 o (4,4):(1,4)"_L>();
  static_assert(!is_linear("Sw<1,0,1> o 0 o (4,3):(4,1)"_L), "3 is no power of two");
  static_assert(!is_linear("Sw<1,0,1> o 2 o (4,4):(4,1)"_L), "the offset's bit is a leaf's too");
}

}  // namespace
