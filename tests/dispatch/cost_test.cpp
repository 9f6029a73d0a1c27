// SPDX-License-Identifier: Apache-2.0
// cost_test.cpp  Laws of the predicted time: what is read from DRAM.
#include "dispatch/cost.hpp"

#include <gtest/gtest.h>

#include "problems.hpp"

namespace tw::test {
namespace {

gemm_config tile_128x128() {
  gemm_config c;
  c.tile_m = 128, c.tile_n = 128, c.cluster_m = 1, c.cluster_n = 1;
  return c;
}

/// Reads per product, us, with `shared` of the tiles cut among all SMs.
double reads_us(gemm_problem const& p, int tiles, int shared) {
  return predict(p, tile_128x128(), {tiles, 132, shared, shared == 0 ? 0 : 132}).reads_us /
         static_cast<double>(p.batch);
}

TEST(Cost, SharedTilesReadALargeOperandAnewForEachTileAcross) {
  gemm_problem const p = tn(256, 5120, 25600);  // 2 x 40 tiles; A has 13 MB, B 262
  double const once = reads_us(p, 80, 0), a = once * 256 / 5376, b = once * 5120 / 5376;
  EXPECT_NEAR(reads_us(p, 80, 80), a + 2 * b, 1e-9 * once);
  EXPECT_NEAR(reads_us(p, 80, 40), a + 1.5 * b, 1e-9 * once);  // half of the tiles
}

TEST(Cost, AndASmallOneNotHoweverManyProductsThereAre) {
  for (int const batch : {1, 77, 1000}) {
    gemm_problem const p = batch_of(tn(512, 512, 512), batch);  // A and B have 0.5 MB
    EXPECT_DOUBLE_EQ(reads_us(p, 16 * batch, 16 * batch), reads_us(p, 16 * batch, 0)) << batch;
  }
}

}  // namespace
}  // namespace tw::test
