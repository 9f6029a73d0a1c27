// SPDX-License-Identifier: Apache-2.0
// mma_fragment_test.cpp  Who holds what: PTX ISA's formulas, exact cover, agreement with the
// emulator.
#include "tilewright/atom/mma_fragment.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "emu/elements/fragment.hpp"
#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {
namespace {

constexpr mma_atom wgmma = find_mma("mma.sm90.m64n96k16.f32.bf16.bf16.ss");
constexpr mma_atom warp_mma = find_mma("mma.sm80.m16n8k16.f32.f16.f16");

// The layouts as texts.
static_assert(thr_id(wgmma) == "128:1"_L);
static_assert(layout_a(wgmma) == "(128,(64,16)):(0,(1,64))"_L);
static_assert(layout_b(wgmma) == "(128,(96,16)):(0,(1,96))"_L);
static_assert(layout_c(wgmma) == "((4,8,4),(2,2,12)):((128,1,16),(64,8,512))"_L);
static_assert(layout_a(warp_mma) == "((4,8),(2,2,2)):((32,1),(16,8,128))"_L);
static_assert(layout_b(warp_mma) == "((4,8),(2,2)):((16,1),(8,64))"_L);
static_assert(layout_c(warp_mma) == "((4,8),(2,2)):((32,1),(16,8))"_L);

/// PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", D: thread t, value v.
constexpr bool wgmma_accumulator(mma_atom const& a) {
  layout const c = layout_c(a);
  for (int t = 0; t < 128; ++t) {
    for (int v = 0; v < a.n / 2; ++v) {
      int const row = 16 * (t / 32) + t % 32 / 4 + 8 * (v / 2 % 2);
      int const column = 2 * (t % 4) + v % 2 + 8 * (v / 4);
      if (c(t, v) != row + 64 * column) return false;
    }
  }
  return true;
}
static_assert(wgmma_accumulator(wgmma));
static_assert(wgmma_accumulator(find_mma("mma.sm90.m64n8k32.s32.u8.s8.rs")));

/// A of 16 or 64 rows in registers, V elements in each: PTX ISA, "Matrix Fragments for mma.m16n8k16
/// with floating point type" (V = 2), "... with integer type" (4), "... mma.m16n8k8", tf32 (1).
constexpr bool operand_a(mma_atom const& a, int v_per_register) {
  layout const l = layout_a(a);
  for (int t = 0; t < static_cast<int>(size(thr_id(a))); ++t) {
    for (int v = 0; v < static_cast<int>(size(mode(l, 1))); ++v) {
      int const reg = v / v_per_register;  // a0 a1 a2 a3: rows +0 +8 +0 +8, k +0 +0 +4V +4V
      int const row = 16 * (t / 32) + t % 32 / 4 + 8 * (reg % 2);
      int const k = v_per_register * (t % 4) + v % v_per_register + 4 * v_per_register * (reg / 2);
      if (l(t, v) != row + a.m * k) return false;
    }
  }
  return true;
}
static_assert(operand_a(warp_mma, 2));
static_assert(operand_a(find_mma("mma.sm80.m16n8k8.f32.tf32.tf32"), 1));
static_assert(operand_a(find_mma("mma.sm80.m16n8k32.s32.s8.u8"), 4));
static_assert(operand_a(find_mma("mma.sm80.m16n8k64.s32.u4.s4.sat"), 8));
static_assert(operand_a(find_mma("mma.sm80.m16n8k256.s32.b1.b1.and_popc"), 32));
static_assert(operand_a(find_mma("mma.sm89.m16n8k32.f32.e4m3.e5m2"), 4));
static_assert(operand_a(find_mma("mma.sm90.m16n8k16.f64.f64.f64"), 1));
static_assert(operand_a(find_mma("mma.sm90.m64n8k16.f32.bf16.bf16.rs"), 2));
static_assert(operand_a(find_mma("mma.sm90.m64n8k8.f32.tf32.tf32.rs"), 1));
static_assert(operand_a(find_mma("mma.sm90.m64n256k32.f16.e5m2.e4m3.rs"), 4));

/// mma.m8n8k4 .f64: one element of A and B, two of C (PTX ISA, "Matrix Fragments for mma.m8n8k4
/// with .f64 floating point type").
constexpr bool f64_of_sm80() {
  mma_atom const a = find_mma("mma.sm80.m8n8k4.f64.f64.f64");
  for (int t = 0; t < 32; ++t) {
    if (layout_a(a)(t, 0) != t / 4 + 8 * (t % 4) || layout_b(a)(t, 0) != t / 4 + 8 * (t % 4)) {
      return false;
    }
    for (int v = 0; v < 2; ++v) {
      if (layout_c(a)(t, v) != t / 4 + 8 * (2 * (t % 4) + v)) return false;
    }
  }
  return true;
}
static_assert(f64_of_sm80());

/// How often each place of a tile is held; empty where a place outside is.
std::vector<int> holders(layout const& tv, i64 places) {
  std::vector<int> count(static_cast<std::size_t>(places));
  for (i64 i = 0, n = size(tv); i < n; ++i) {
    i64 const at = tv(i);
    if (at < 0 || at >= places) return {};
    ++count[static_cast<std::size_t>(at)];
  }
  return count;
}

/// Every place is held by equally many threads.
bool covers(layout const& tv, i64 places, int copies) {
  std::vector<int> const count = holders(tv, places);
  return static_cast<i64>(count.size()) == places &&
         count == std::vector<int>(static_cast<std::size_t>(places), copies);
}

TEST(MmaFragment, EveryAtomCoversItsTilesExactly) {
  std::map<std::string, int> seen;  // layouts that were walked; atoms share them
  int atoms = 0;
  for (mma_row const& row : mma_rows) {
    std::vector<mma_atom> const all = atoms_of(row);
    EXPECT_FALSE(all.empty()) << row.section;
    for (mma_atom const& a : all) {
      ++atoms;
      i64 const threads = size(thr_id(a));
      struct {
        layout tv;
        i64 places;
        int copies;
      } const operands[] = {
          {layout_a(a), i64{a.m} * a.k, is_wgmma(a) && a.a_from == mma_source::shared ? 128 : 1},
          {layout_b(a), i64{a.n} * a.k, is_wgmma(a) ? 128 : 1},
          {layout_c(a), i64{a.m} * a.n, 1}};
      for (auto const& o : operands) {
        ASSERT_EQ(size(mode(o.tv, 0)), threads) << to_string(a);
        ASSERT_EQ(rank(o.tv), 2) << to_string(a);
        std::string key = print(o.tv).text;
        key += ' ' + std::to_string(o.places);
        if (seen[key]++ > 0) continue;
        ASSERT_TRUE(covers(o.tv, o.places, o.copies)) << to_string(a) << ' ' << key;
      }
    }
  }
  RecordProperty("atoms", atoms);
  EXPECT_GT(atoms, 10000);
}

TEST(MmaFragment, ScaleFactorsFollowTheRows) {
  mma_atom const a = find_mma("mma.sm120.m16n8k64.f32.e2m1.e2m1.ue8m0.block32");
  EXPECT_EQ(layout_sfa(a), "((2,2,8),64):((8,0,1),16)"_L);
  EXPECT_TRUE(covers(layout_sfa(a), 16 * 64, 2));
  EXPECT_TRUE(covers(layout_sfb(a), 8 * 64, 4));
  EXPECT_THROW(layout_sfa(warp_mma), rejected);  // TW0213
}

TEST(MmaFragment, LdmatrixLoadsTheOperandsOfMma) {
  // A 16 x 16 tile of 16-bit elements in row-major shared memory, element = its column-major place.
  std::uint16_t tile[16][16];
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < 16; ++k) tile[row][k] = static_cast<std::uint16_t>(row + 16 * k);
  std::byte const* row_of_lane[32];
  for (int lane = 0; lane < 32; ++lane) {  // matrices: rows 0-7, 8-15, then k 8-15 of both
    int const matrix = lane / 8;
    row_of_lane[lane] =
        reinterpret_cast<std::byte const*>(&tile[lane % 8 + 8 * (matrix % 2)][8 * (matrix / 2)]);
  }
  std::uint32_t regs[32][4];
  emu::ldmatrix_warp(4, false, row_of_lane, regs);
  layout const a = layout_a(warp_mma);
  for (int lane = 0; lane < 32; ++lane)
    for (int v = 0; v < 8; ++v) {
      auto const held = static_cast<std::uint16_t>(regs[lane][v / 2] >> (16 * (v % 2)));
      EXPECT_EQ(held, a(lane, v)) << "lane " << lane << " value " << v;
    }
}

TEST(MmaFragment, StmatrixStoresTheAccumulatorOfMma) {
  // C of m16n8 as two 8 x 8 matrices of 16-bit elements; each thread stores its places.
  mma_atom const f16_sums = find_mma("mma.sm80.m16n8k16.f16.f16.f16");
  layout const c = layout_c(f16_sums);
  std::uint32_t regs[32][4] = {};
  for (int lane = 0; lane < 32; ++lane)
    for (int v = 0; v < 4; ++v)
      regs[lane][v / 2] |= static_cast<std::uint32_t>(c(lane, v)) << (16 * (v % 2));
  std::uint16_t tile[16][8] = {};
  std::byte* row_of_lane[32] = {};
  for (int lane = 0; lane < 16; ++lane)
    row_of_lane[lane] = reinterpret_cast<std::byte*>(tile[lane]);
  emu::stmatrix_warp(2, false, row_of_lane, regs);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) EXPECT_EQ(tile[row][column], row + 16 * column);
}

struct accumulator_tile {
  float* values;  // 64 x 96, column-major
};
/// Every thread writes into each of its elements where layout_c says that it is.
struct fill_accumulator {
  using params = accumulator_tile;
  static constexpr int threads = 128, cluster = 1, smem_bytes = 1024;
  static void run(params const& p) {
    accumulator<96> d;
    layout const c = layout_c(wgmma);
    for (int i = 0; i < 48; ++i) d[i] = static_cast<float>(c(thread_id(), i));
    cluster_sync();
    if (thread_id() == 0) std::memcpy(p.values, d.tile(), 64 * 96 * sizeof(float));
    cluster_sync();
  }
};

/// accumulator_map, which kernels and both backends use, says the same as the layout.
TEST(MmaFragment, AccumulatorMapIsLayoutCOfEveryWgmma) {
  int atoms = 0;
  for (mma_row const& row : mma_rows)
    for (mma_atom const& a : atoms_of(row)) {
      if (!is_wgmma(a)) continue;
      ++atoms;
      layout const c = layout_c(a);
      for (int t = 0; t < 128; ++t)
        for (int i = 0; i < a.n / 2; ++i) {
          int const r =
              accumulator_map::row_of(t / 32, t % 32) + accumulator_map::row_of_register(i);
          int const k = accumulator_map::col_of(t % 32) + accumulator_map::col_of_register(i);
          ASSERT_EQ(c(t, i), r + 64 * k) << "n = " << a.n << ", thread " << t << ", register " << i;
        }
    }
  EXPECT_GT(atoms, 100);
}

TEST(MmaFragment, TheEmulatorsAccumulatorIsLayoutC) {
  std::vector<float> values(64 * 96, -1);
  launch<fill_accumulator>(1, {values.data()}, {});
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(i));
}

}  // namespace
}  // namespace tw
