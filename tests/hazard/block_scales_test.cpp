// SPDX-License-Identifier: Apache-2.0
// block_scales_test.cpp  A Hopper GEMM with block scales whose ordinary loads and stores are
//                        seen: warps exchange scales through shared memory, tile after tile.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/hazard/sm90_gemm.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {
namespace {

constexpr gemm_config scaled_config{.a = {elem::e4m3},
                                    .b = {elem::e4m3},
                                    .tile_m = 128,
                                    .tile_n = 128,
                                    .cluster_m = 1,
                                    .stages = 4,
                                    .sums = sum_form::scaled};

/// D (m, n) = A (m, k) B (n, k)^T of small integers, with scales that are powers of two: 1x128 of
/// A, and of B for `b_block` rows by 128. One CTA computes all tiles.
void expect_clean_and_right(int k, int b_block, std::uint64_t seed) {
  constexpr int m = 128, n = 512;
  int const blocks = k / 128, d_pitch = n + 1;
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
  gemm_params p =
      one_cta_params<scaled_config>(m, n, blocks, a.data(), b.data(), d.data(), d_pitch);
  p.a_scales = {a_scales.data(), blocks, 1, 0, 0, 0, 0};
  p.b_scales = {b_scales.data(), blocks, 1, 0, b_block == 1 ? 0 : 7, 0, 0};
  expect_clean<scaled_config>(p, seed);
  auto const at = [&](std::vector<std::uint8_t> const& x, int row, int i) {
    return to_float(e4m3{x[static_cast<std::size_t>(row * k + i)]});
  };
  for (int i = 0; i < m; i += 5)
    for (int j = 0; j < n; ++j) {
      float sum = 0;  // exact
      for (int x = 0; x < k; ++x)
        sum += at(a, i, x) * at(b, j, x) *
               a_scales[static_cast<std::size_t>(i * blocks + x / 128)] *
               b_scales[static_cast<std::size_t>(j / b_block * blocks + x / 128)];
      ASSERT_EQ(d[static_cast<std::size_t>(i * d_pitch + j)], to_bf16(sum).bits) << i << ", " << j;
    }
}

class BlockScalesHazards : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without interception";
  }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(GetParam()); }
};

TEST_P(BlockScalesHazards, TilesWithOneScaleOfB) { expect_clean_and_right(384, 128, seed()); }
TEST_P(BlockScalesHazards, TilesWithAScaleForEachColumn) { expect_clean_and_right(384, 1, seed()); }

INSTANTIATE_TEST_SUITE_P(Seeds, BlockScalesHazards, testing::Range(1, 4));

}  // namespace
}  // namespace tw::test
