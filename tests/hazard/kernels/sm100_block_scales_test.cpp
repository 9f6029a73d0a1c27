// SPDX-License-Identifier: Apache-2.0
// sm100_block_scales_test.cpp  The Blackwell GEMM with scales of blocks, whose ordinary loads and
//                              stores are seen: lanes exchange scales through shared memory, and
//                              sums go to tensor memory and back, tile after tile. D is stored by
//                              the threads or by TMA; tiles are given out or requested.
#include "tests/hazard/kernels/sm100_block_scales.hpp"

#include <gtest/gtest.h>

namespace tw::test {
namespace {

class Sm100BlockScales : public testing::TestWithParam<int> {
 protected:
  template <sm100_config C>
  void expect_clean_and_right(scaled_problem_size const& s) {
    scaled_run const r = run_scaled<C>(s, GetParam());
    EXPECT_TRUE(r.report.clean()) << r.report.text();
    EXPECT_EQ(r.wrong, "");
    EXPECT_GT(r.report.counts.ummas, 0);
    ctas_ = r.report.counts.ctas;
  }
  std::int64_t ctas_ = 0;  // that were started
};

constexpr sm100_config one_cta{
    .a = {elem::e4m3}, .b = {elem::e4m3}, .stages = 3, .block_scales = true};
constexpr sm100_config cta_pair{
    .a = {elem::e4m3}, .b = {elem::e4m3}, .ctas = 2, .stages = 3, .block_scales = true};
constexpr sm100_config narrow{
    .a = {elem::e4m3}, .b = {elem::e4m3}, .tile_n = 64, .stages = 2, .block_scales = true};
constexpr sm100_config requests{
    .a = {elem::e4m3}, .b = {elem::e4m3}, .stages = 3, .dynamic = true, .block_scales = true};
constexpr sm100_config pair_requests{.a = {elem::e4m3},
                                     .b = {elem::e4m3},
                                     .ctas = 2,
                                     .stages = 3,
                                     .dynamic = true,
                                     .block_scales = true};

TEST_P(Sm100BlockScales, TilesWithOneScaleOfB) {
  expect_clean_and_right<one_cta>({128, 384, 512, 128});
}
TEST_P(Sm100BlockScales, TilesWithAScaleForEachColumn) {
  expect_clean_and_right<one_cta>({128, 256, 512, 1});
}
TEST_P(Sm100BlockScales, NarrowTilesWithAScaleForEachColumn) {
  expect_clean_and_right<narrow>({96, 192, 256, 1});
}
/// The last tile has no rows in the odd CTA.
TEST_P(Sm100BlockScales, CtaPairs) { expect_clean_and_right<cta_pair>({384, 256, 512, 128}); }

/// Four boxes of D for each warp: both staging buffers are filled again.
TEST_P(Sm100BlockScales, DByTma) {
  expect_clean_and_right<one_cta>({128, 256, 384, 128, true});
  expect_clean_and_right<one_cta>({96, 136, 256, 1, true});  // a box ends outside D
}
TEST_P(Sm100BlockScales, DOfCtaPairsByTma) {
  expect_clean_and_right<cta_pair>({384, 256, 256, 128, true});
}
TEST_P(Sm100BlockScales, TilesThatClustersRequest) {
  expect_clean_and_right<requests>({256, 384, 256, 128, true});
  EXPECT_LT(ctas_, 6);  // the work of others was taken
  expect_clean_and_right<requests>({128, 384, 256, 1});
}
TEST_P(Sm100BlockScales, TilesThatCtaPairsRequest) {
  expect_clean_and_right<pair_requests>({512, 256, 256, 128, true});
  EXPECT_LT(ctas_, 2 * 4);
}

INSTANTIATE_TEST_SUITE_P(Schedules, Sm100BlockScales, testing::Range(0, 3));

}  // namespace
}  // namespace tw::test
