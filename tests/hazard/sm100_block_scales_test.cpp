// SPDX-License-Identifier: Apache-2.0
// sm100_block_scales_test.cpp  The Blackwell GEMM with scales of blocks, whose ordinary loads and
//                              stores are seen: lanes exchange scales through shared memory, and
//                              sums go to tensor memory and back, tile after tile.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/hazard/hazard_kernels.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/sm100/gemm.hpp"

namespace tw::test {
namespace {

tensor_map scaled_map(void* base, int rows, int k, int box_rows) {
  tensor_map_desc d;
  d.base = base;
  d.type = elem::e4m3;
  d.rank = 4;  // the last two: a tma_place, or (batch, 0)
  d.dim[0] = k, d.dim[1] = rows, d.dim[2] = d.dim[3] = 1;
  d.stride_bytes[0] = d.stride_bytes[1] = d.stride_bytes[2] = k;
  d.box[0] = 128, d.box[1] = box_rows, d.box[2] = d.box[3] = 1;
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, target::emu);
}

/// D (m, n) = A (m, k) B (n, k)^T of small integers, with scales that are powers of two: 1x128 of
/// A, and of B for `b_block` rows by 128. One cluster computes all tiles.
template <sm100_config C>
void expect_clean_and_right(int m, int n, int k, int b_block, int seed) {
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
  auto const tiles_of = [](int extent, int tile) { return (extent + tile - 1) / tile; };
  sm100_params p{};
  p.walk = tile_walk({tiles_of(m, C.tile_m()), tiles_of(n, C.tile_n), 1});
  p.k_blocks = blocks;
  p.a = scaled_map(a.data(), m, k, 128);
  p.b = scaled_map(b.data(), n, k, C.b_share());
  p.a_scales = {a_scales.data(), blocks, 1, 0, 0, 0, 0};
  p.b_scales = {b_scales.data(), blocks, 1, 0, b_block == 1 ? 0 : 7, 0, 0};
  p.epilogue.data = d.data();
  p.epilogue.pitch = d_pitch;
  p.epilogue.m = m, p.epilogue.n = n, p.epilogue.alpha = 1;
  emu::report const r = emu::run(gemm_sm100<C>{}, C.ctas, p, scheduled(seed));
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_GT(r.counts.ummas, 0);
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

class Sm100BlockScales : public testing::TestWithParam<int> {};

constexpr sm100_config one_cta{.ab = elem::e4m3, .stages = 3, .block_scales = true};
constexpr sm100_config cta_pair{.ab = elem::e4m3, .ctas = 2, .stages = 3, .block_scales = true};
constexpr sm100_config narrow{.ab = elem::e4m3, .tile_n = 64, .stages = 2, .block_scales = true};

TEST_P(Sm100BlockScales, TilesWithOneScaleOfB) {
  expect_clean_and_right<one_cta>(128, 384, 512, 128, GetParam());
}
TEST_P(Sm100BlockScales, TilesWithAScaleForEachColumn) {
  expect_clean_and_right<one_cta>(128, 256, 512, 1, GetParam());
}
TEST_P(Sm100BlockScales, NarrowTilesWithAScaleForEachColumn) {
  expect_clean_and_right<narrow>(96, 192, 256, 1, GetParam());
}
/// The last tile has no rows in the odd CTA.
TEST_P(Sm100BlockScales, CtaPairs) {
  expect_clean_and_right<cta_pair>(384, 256, 512, 128, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Schedules, Sm100BlockScales, testing::Range(0, 3));

}  // namespace
}  // namespace tw::test
