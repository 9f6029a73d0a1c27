// SPDX-License-Identifier: Apache-2.0
// block_scales_test.cpp  A Hopper GEMM with scales of blocks whose ordinary loads and stores are
//                        seen: warps exchange scales through shared memory, tile after tile.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/hazard/hazard_kernels.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"

namespace tw::test {
namespace {

constexpr gemm_config scaled_config{.ab = elem::e4m3,
                                    .tile_m = 128,
                                    .tile_n = 128,
                                    .cluster_m = 1,
                                    .stages = 4,
                                    .sums = sum_form::scaled};

tensor_map map_of(void* base, int rows, int k) {
  tensor_map_desc d;
  d.base = base;
  d.type = elem::e4m3;
  d.rank = 3;
  d.dim[0] = k, d.dim[1] = rows, d.dim[2] = 1;
  d.stride_bytes[0] = d.stride_bytes[1] = k;
  d.box[0] = 128, d.box[1] = 128, d.box[2] = 1;
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, target::emu);
}

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
  gemm_params p{};
  p.m = m, p.n = n;
  p.tile_cols = scaled_config.tile_n;
  p.a = p.a_edge = map_of(a.data(), m, k);
  p.b = p.b_edge = map_of(b.data(), n, k);
  p.walk = tile_walk({m / scaled_config.tile_m, n / scaled_config.tile_n, 1});
  p.work = make_work_plan(p.walk.order.tiles(), blocks, 0, 0);
  p.a_scales = {a_scales.data(), blocks, 1, 0, 0, 0, 0};
  p.b_scales = {b_scales.data(), blocks, 1, 0, b_block == 1 ? 0 : 7, 0, 0};
  p.epilogue.data = d.data();
  p.epilogue.pitch = d_pitch;
  p.epilogue.m = m, p.epilogue.n = n, p.epilogue.alpha = 1;
  emu::options o;
  o.seed = seed;
  o.random_warps = true;
  o.policy = emu::async_policy(seed % 3);
  emu::report const r = emu::run(gemm_sm90<scaled_config>{}, 1, p, o);
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_GT(r.counts.plain_stores, 0);
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
