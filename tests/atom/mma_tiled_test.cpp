// SPDX-License-Identifier: Apache-2.0
// mma_tiled_test.cpp  Tiled MMAs: tiles, thread-value layouts, partitions, and their laws.
#include "tilewright/atom/tiled_mma.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tilewright/atom/call.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {
namespace {

// Four warps, 2 x 2, each with two atoms along n.
constexpr mma_atom warp = find_mma("mma.sm80.m16n8k16.f32.f16.f16");
constexpr tiled_mma four_warps = make_tiled_mma(warp, "(2,2,1)"_L, tile(32, 32, 16));
static_assert(thr_layout_vmnk(four_warps) == "(32,2,2,1):(1,32,64,0)"_L);
static_assert(tile_mnk(four_warps) == make_shape(32, 32, 16));
static_assert(tv_c(four_warps) == "((4,8,2,2),((2,2),(1,2))):((64,1,16,256),((32,8),(0,512)))"_L);
static_assert(partition_c(four_warps, 17, "(64,64):(64,1)"_L).kept ==
              "((2,2),2,4):((1,512),2048,16)"_L);
static_assert(partition_shape(four_warps, mma_operand::a, make_shape(64, 32)) ==
              make_shape(make_shape(2, 2, 2), 2, 2));

// Two warpgroups along m, as the GEMM kernel has them.
constexpr tiled_mma two_groups =
    make_tiled_mma(find_mma("mma.sm90.m64n128k16.f32.bf16.bf16.ss"), "(2,1,1)"_L);
static_assert(tile_mnk(two_groups) == make_shape(128, 128, 16));
static_assert(tv_c(two_groups) == "((4,8,8),((2,2,16),(1,1))):((256,1,16),((128,8,1024),(0,0)))"_L);

tiled_mma const examples[] = {
    four_warps,
    two_groups,
    make_tiled_mma(warp, "(4,1,1)"_L, tile(64, 32, 16)),
    make_tiled_mma(warp, "(2,4,1):(4,1,0)"_L, tile(32, "(8,4,2):(1,16,8)"_L, 16)),
    make_tiled_mma(find_mma("mma.sm90.m64n96k16.f32.f16.f16.rs"), "(1,2,1)"_L),
    make_tiled_mma(find_mma("mma.sm80.m8n8k4.f64.f64.f64"), "(2,2,2)"_L),
    make_tiled_mma(find_mma("mma.sm70.m8n8k4.f32.f16.f16"), "(2,2):(2,1)"_L, tile(32, 32, 4)),
    make_tiled_mma(find_mma("mma.fma.m1n1k1.f32.f32.f32"), "(16,16,1)"_L)};

/// Extents of the tile along the modes of an operand.
tree extents_of(tiled_mma const& t, mma_operand which) {
  auto const [row, column] = detail::modes_of(which);
  tree const all = tile_mnk(t);
  return make_shape(all.leaf[row].v, all.leaf[column].v);
}

/// How often each place is held.
std::map<i64, int> holders(layout const& tv) {
  std::map<i64, int> count;
  for (i64 i = 0; i < size(tv); ++i) ++count[tv(i)];
  return count;
}

TEST(TiledMma, ThreadValueLayoutsCoverTheTile) {
  for (tiled_mma const& t : examples) {
    for (mma_operand const which : {mma_operand::a, mma_operand::b, mma_operand::c}) {
      SCOPED_TRACE(to_string(t));
      layout const tv = tv_layout(t, which);
      i64 const places = size(extents_of(t, which));
      EXPECT_EQ(size(mode(tv, 0)), thread_count(t));
      // Copies along k hold separate sums, so C is held once for each of them.
      std::map<i64, int> const count = holders(tv);
      EXPECT_EQ(static_cast<i64>(count.size()), places);
      EXPECT_EQ(count.rbegin()->first, places - 1);
      for (auto const& [place, times] : count) EXPECT_EQ(times, size(tv) / places) << place;
      i64 const copies = size(mode(t.atom_layout, 2));
      if (which == mma_operand::c) {
        EXPECT_EQ(size(tv) / places, copies);
      }
    }
  }
}

/// Partition and thread-value layout say the same: element i of a thread's part of a tile is where
/// the layout of the tile sends the thread's value i.
TEST(TiledMma, PartitionsAreWhatTheThreadValueLayoutSays) {
  for (tiled_mma const& t : examples) {
    for (mma_operand const which : {mma_operand::a, mma_operand::b, mma_operand::c}) {
      SCOPED_TRACE(to_string(t));
      tree const extents = extents_of(t, which);
      layout const tv = tv_layout(t, which);
      layout const left = make_layout_left(extents);
      layout const tensor = make_layout_right(extents);
      for (i64 thread = 0; thread < thread_count(t); thread += 7) {
        sliced const part = partition(t, which, thread, tensor);
        ASSERT_EQ(size(part.kept), size(mode(tv, 1)));
        for (i64 v = 0; v < size(part.kept); ++v) {
          ASSERT_EQ(part.offset + part.kept(v), tensor(tv(thread, v))) << thread << ' ' << v;
        }
      }
      EXPECT_EQ(size(left), size(tensor));
    }
  }
}

TEST(TiledMma, PartitionsOfASwizzledTensor) {
  layout const tensor = parse_layout("Sw<3,3,3> o 0 o (64,64):(64,1)", 30);
  for (i64 thread = 0; thread < 128; thread += 5) {
    sliced const plain_part = partition_a(four_warps, thread, linear_part(tensor));
    sliced const part = partition_a(four_warps, thread, tensor);
    for (i64 v = 0; v < size(part.kept); ++v) {
      EXPECT_EQ(part.offset + part.kept(v), tensor.sw(plain_part.offset + plain_part.kept(v)));
    }
  }
}

TEST(TiledMma, Texts) {
  std::string const text =
      "tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,4,1):(4,1,0),(32,(8,4,2):(1,16,8),16))";
  EXPECT_EQ(to_string(parse_tiled_mma(text)), text);
  EXPECT_EQ(to_string(parse_tiled_mma("tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (1,1,1))")),
            "tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(1,1,1):(1,1,1))");
  EXPECT_EQ(evaluate("tile_mnk(tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (2,2,1)))").res,
            "(32,16,16)");
  EXPECT_EQ(evaluate("tv(tiled_mma(SM90_64x128x16_F32BF16BF16_SS_K_K,(2,1,1)), C)").res,
            "((4,8,8),((2,2,16),(1,1))):((256,1,16),((128,8,1024),(0,0)))");
  EXPECT_EQ(evaluate("thr_layout_vmnk(tiled_mma(mma.sm80.m16n8k16.f32.bf16.bf16,(2,2,1)))").res,
            "(32,2,2,1):(1,32,64,0)");
  answer const part =
      evaluate("partition(tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(1,1,1)), A, 5, (32,32):(32,1))");
  EXPECT_EQ(part.res, "((2,2,2),2,2):((1,256,8),512,16)");
  EXPECT_EQ(part.base, 34);
  EXPECT_EQ(
      evaluate("partition_shape(tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1)), C, (64,64))").res,
      "((2,2),2,4)");
}

std::string code_of(char const* expression) {
  try {
    evaluate(expression);
  } catch (rejected const& e) {
    return e.why().code;
  }
  return "nothing";
}

TEST(TiledMma, Refusals) {
  EXPECT_EQ(code_of("tiled_mma(mma.sm80.m16n8k16.f32.f16.f16, (2,2,1,1))"), "TW0214");
  EXPECT_EQ(code_of("tiled_mma(mma.sm80.m16n8k16.f32.f16.f16, (2,2,1), (32,24,16))"), "TW0215");
  EXPECT_EQ(code_of("tv(tiled_mma(SM70_8x8x4_F32F16F16F32_NT, (1,1,1)), C)"), "TW0216");
  std::string const four = "partition(tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1)), C, ";
  EXPECT_EQ(code_of((four + "128, (64,64))").c_str()), "TW0217");
  EXPECT_EQ(code_of((four + "-1, (64,64))").c_str()), "TW0217");
  EXPECT_EQ(code_of("tile_mnk(mma.sm80.m16n8k16.f32.f16.f16)"), "TW0220");
  EXPECT_EQ(code_of("tile_mnk(tiled_mma(mma.sm80.m16n8k16.f32.f16.f16))"), "TW0120");
}

}  // namespace
}  // namespace tw
