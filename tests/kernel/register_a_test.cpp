// SPDX-License-Identifier: Apache-2.0
// register_a_test.cpp  Laws of A in registers: its fragments, their rows, and the banks they are
//                      read from. Whole GEMMs with such kernels: typed_emu_test.cpp.
#include "tilewright/kernel/sm90/register_a.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tilewright/atom/mma_fragment.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tilewright/layout/evaluate.hpp"

namespace tw::test {
namespace {

constexpr gemm_config kernel_of(elem ab, int tile_m) {
  return {.a = {ab, ab, operand_major::mn, operand_source::registers},
          .b = {ab},
          .d = elem::f32,
          .tile_m = tile_m,
          .tile_n = 64,
          .cluster_m = 1};
}
constexpr gemm_config in_shared_memory{};
constexpr gemm_config of_words = kernel_of(elem::tf32, 128), of_bytes = kernel_of(elem::s8, 128),
                      narrow_bytes = kernel_of(elem::e4m3, 64);

constexpr mma_atom wgmma = find_mma("mma.sm90.m64n64k8.f32.tf32.tf32.rs");

template <gemm_config C>
void expect_each_row_once() {
  using rows = fragment_rows<C>;
  std::set<int> of_threads, of_warps;
  for (int warp = 0; warp < warps_of_warpgroup; ++warp)
    for (int i = 0; i < 16; ++i) {
      of_warps.insert(rows::row_of_warp(warp, i));
      int const lane = 4 * (i % 8);
      EXPECT_EQ(rows::row_of_warp(warp, i), rows::row_of(warp, lane) + i / 8 * rows::distance);
      for (int c = 0; c < 4; ++c) EXPECT_EQ(rows::row_of(warp, lane + c), rows::row_of(warp, lane));
      for (int r : {0, 2}) of_threads.insert(rows::row_of(warp, lane) + rows::row_of_register(r));
    }
  EXPECT_EQ(of_threads.size(), 64U);
  EXPECT_EQ(of_warps, of_threads);
  EXPECT_EQ(*of_threads.begin(), 0);
  EXPECT_EQ(*of_threads.rbegin(), 63);
}

TEST(RegisterA, EachOrderHasEveryRowOnce) {
  expect_each_row_once<in_shared_memory>();
  expect_each_row_once<of_words>();
  expect_each_row_once<of_bytes>();
}

/// (m, k) of an element of a tile, by search.
std::pair<int, int> element_at(layout const& tile, int m_extent, int k_extent, int place) {
  for (int m = 0; m < m_extent; ++m)
    for (int k = 0; k < k_extent; ++k)
      if (tile(m, k) == place) return {m, k};
  return {-1, -1};
}

/// Word v of thread t is the element that the atom wants there, in the order of fragment_rows.
TEST(RegisterA, WordsAreThoseOfTheAtom) {
  using a = register_a<of_words>;
  layout const fragment = layout_a(wgmma);
  for (int t = 0; t < warpgroup_threads; ++t)
    for (int v = 0; v < 4; ++v) {
      int const warp = t / warp_threads, lane = t % warp_threads;
      int const wanted = static_cast<int>(fragment(t, v)), row = wanted % 64;
      auto const [m, k] = element_at(a::tile, 128, a::mma_k, a::place_of_word(64, warp, lane, v));
      EXPECT_EQ(m - 64, a::rows::row_of_warp(warp, row - 16 * warp)) << t << " " << v;
      EXPECT_EQ(k, wanted / 64) << t << " " << v;
    }
}

/// Each load of a warp reads from 32 banks.
TEST(RegisterA, WordsLieInDifferentBanks) {
  using a = register_a<of_words>;
  for (int warp = 0; warp < warps_of_warpgroup; ++warp)
    for (int v = 0; v < 4; ++v) {
      std::set<int> banks;
      for (int lane = 0; lane < warp_threads; ++lane)
        banks.insert(a::place_of_word(0, warp, lane, v) % 32);
      EXPECT_EQ(banks.size(), 32U) << warp << " " << v;
    }
}

/// Each of the four matrices that a warp reads with ldmatrix covers the 32 banks once. Together
/// they have each k of the warp's 16 rows once.
template <gemm_config C>
void expect_pairs() {
  using a = register_a<C>;
  for (int warp = 0; warp < warps_of_warpgroup; ++warp) {
    std::set<int> all;
    for (int matrix = 0; matrix < 4; ++matrix) {
      std::set<int> banks;
      for (int i = 0; i < 8; ++i) {
        int const place = a::place_of_pairs(0, warp, 8 * matrix + i);
        banks.insert(place / 16 % 8);
        auto const [m, k] = element_at(a::tile, C.tile_m, a::mma_k, place);
        EXPECT_EQ(m, 16 * warp);
        // Register `matrix` of lane 4 g + i / 2 gets k and k + 1 of rows 2 g and 2 g + 1.
        EXPECT_EQ(k / 4 % 4, i / 2);
        EXPECT_EQ(k / 16, matrix / 2);
        EXPECT_EQ(k % 2, i % 2);
        all.insert(k);
      }
      EXPECT_EQ(banks.size(), 8U) << warp << " " << matrix;
    }
    EXPECT_EQ(all.size(), 32U);
  }
}
TEST(RegisterA, PairsOfBytesLieInDifferentBanks) {
  expect_pairs<of_bytes>();
  expect_pairs<narrow_bytes>();
}

}  // namespace
}  // namespace tw::test
