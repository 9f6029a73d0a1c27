// SPDX-License-Identifier: Apache-2.0
// block_scales_test.cpp  A Hopper GEMM with block scales whose ordinary loads and stores are
//                        seen: warps exchange scales through shared memory, tile after tile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/hazard/kernels/sm90_gemm.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {
namespace {

constexpr gemm_config kernel_of(int tile_m, epilogue_id epilogue, sum_form sums,
                                int cluster_n = 1) {
  return {.a = {elem::e4m3},
          .b = {elem::e4m3},
          .tile_m = tile_m,
          .tile_n = 128,
          .cluster_m = 1,
          .cluster_n = cluster_n,
          .stages = tile_m == 256 ? 3 : 4,
          .epilogue = epilogue,
          .sums = sums};
}
constexpr gemm_config both_kinds = kernel_of(128, epilogue_id::plain, sum_form::scaled);
/// Two fragments of a warpgroup share an accumulator.
constexpr gemm_config in_turn(epilogue_id epilogue, sum_form sums, int cluster_n = 1) {
  return kernel_of(256, epilogue, sums, cluster_n);
}

/// B with a gate: columns 0 to n/2 - 1 are gate columns, columns n/2 to n - 1 up columns. A box
/// takes 8 of each in turn (family/sm90_gemm/params.cpp).
template <gemm_config C>
tensor_map split_gate_map(void* base, int n, int k) {
  constexpr int group = C.gate_group;
  std::int64_t const dims[] = {k, group, 2, n / (2 * group), 1};
  std::int64_t const strides[] = {k, n / 2 * k, group * k, n * k};
  std::int32_t const box[] = {C.tile_k(), group, 2, C.tile_n / (2 * group), 1};
  tensor_map_desc d;
  d.base = base;
  d.type = C.b.stored;
  d.rank = 5;
  std::copy_n(dims, 5, d.dim);
  std::copy_n(strides, 4, d.stride_bytes);
  std::copy_n(box, 5, d.box);
  d.swizzle = C.b_swizzle();
  return make_tensor_map(d, target::emu);
}

/// D (m, n) = A (m, k) B (n, k)^T of small integers, with scales that are powers of two: 1x128 of
/// A, and of B for `b_block` rows by 128. One cluster computes all tiles. If it
/// has two CTAs, the last tile lies outside of D. By bulk copies: the scales of a K block's rows
/// are adjacent.
template <gemm_config C>
void expect_clean_and_right(int k, int b_block, std::uint64_t seed, bool by_bulk = false) {
  constexpr int m = C.tile_m, n = C.cluster_n > 1 ? 384 : 512, d_cols = C.gated() ? n / 2 : n,
                d_pitch = d_cols + 1;
  int const blocks = k / 128;
  std::mt19937 random(static_cast<unsigned>(seed));
  auto const fill = [&](int rows) {
    std::vector<std::uint8_t> x(static_cast<std::size_t>(rows * k));
    for (std::uint8_t& v : x)
      v = to_e4m3(static_cast<float>(random() % 7) - 3, saturation::finite).bits;
    return x;
  };
  auto const scales = [&](int count) {
    std::vector<float> x(static_cast<std::size_t>(count));
    for (float& v : x) v = std::ldexp(1.0F, static_cast<int>(random() % 3) - 1);
    return x;
  };
  std::vector<std::uint8_t> a = fill(m), b = fill(n);
  std::vector<float> const a_scales = scales(m * blocks), b_scales = scales(n / b_block * blocks);
  std::vector<std::uint16_t> d(static_cast<std::size_t>(m * d_pitch), 0x7FFF);
  gemm_params p = one_cluster_params<C>(m, n, blocks, a.data(), b.data(), d.data(), d_pitch);
  int const a_outer = by_bulk ? 1 : blocks, a_step = by_bulk ? m : 1;
  p.a_scales = {a_scales.data(), a_outer, a_step, 0, 0, 0, 0};
  p.a_scales_by_bulk = by_bulk ? 1 : 0;
  p.b_scales = {b_scales.data(), blocks, 1, 0, b_block == 1 ? 0 : 7, 0, 0};
  if constexpr (C.gated()) {
    p.b = p.b_edge = split_gate_map<C>(b.data(), n, k);
    p.epilogue.n = d_cols;
    p.epilogue.fused.gate_step = 1, p.epilogue.fused.up_offset = n / 2;
  }
  expect_clean<C>(p, seed);
  auto const at = [&](std::vector<std::uint8_t> const& x, int row, int i) {
    return to_float(e4m3{x[static_cast<std::size_t>(row * k + i)]});
  };
  auto const sum_of = [&](int i, int j) {
    float sum = 0;  // exact
    for (int x = 0; x < k; ++x)
      sum += at(a, i, x) * at(b, j, x) *
             a_scales[static_cast<std::size_t>(i * a_outer + x / 128 * a_step)] *
             b_scales[static_cast<std::size_t>(j / b_block * blocks + x / 128)];
    return sum;
  };
  for (int i = 0; i < m; i += 5)
    for (int j = 0; j < d_cols; ++j) {
      float const want = C.gated() ? sum_of(i, j) * sum_of(i, n / 2 + j) : sum_of(i, j);
      ASSERT_EQ(d[static_cast<std::size_t>(i * d_pitch + j)], to_bf16(want).bits) << i << ", " << j;
    }
}

class BlockScalesHazards : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without interception";
  }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(GetParam()); }
};

TEST_P(BlockScalesHazards, TilesWithOneScaleOfB) {
  expect_clean_and_right<both_kinds>(384, 128, seed());
}
TEST_P(BlockScalesHazards, TilesWithAScaleForEachColumn) {
  expect_clean_and_right<both_kinds>(384, 1, seed());
}
TEST_P(BlockScalesHazards, FragmentsInTurnWithOneScaleOfB) {
  expect_clean_and_right<in_turn(epilogue_id::plain, sum_form::scaled)>(640, 128, seed(), true);
}
TEST_P(BlockScalesHazards, FragmentsInTurnOfTwoCtasWithTheSameRows) {
  constexpr gemm_config c = in_turn(epilogue_id::plain, sum_form::scaled, 2);
  expect_clean_and_right<c>(640, 128, seed(), true);
  expect_clean_and_right<c>(384, 128, seed());
}
TEST_P(BlockScalesHazards, FragmentsInTurnWithAScaleForEachColumn) {
  constexpr gemm_config c = in_turn(epilogue_id::plain, sum_form::scaled_columns);
  expect_clean_and_right<c>(640, 1, seed());
  expect_clean_and_right<c>(384, 1, seed(), true);
  expect_clean_and_right<c>(128, 128, seed());
}
TEST_P(BlockScalesHazards, FragmentsInTurnWithAGate) {
  constexpr gemm_config blocks = in_turn(epilogue_id::gated, sum_form::scaled);
  expect_clean_and_right<blocks>(640, 128, seed(), true);
  expect_clean_and_right<blocks>(384, 128, seed());
  expect_clean_and_right<in_turn(epilogue_id::gated, sum_form::scaled_columns)>(640, 1, seed(),
                                                                                true);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BlockScalesHazards, testing::Range(1, 4));

}  // namespace
}  // namespace tw::test
