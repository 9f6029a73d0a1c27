// SPDX-License-Identifier: Apache-2.0
// cost_test.cpp  Laws of the predicted time: what is read from DRAM, what a GPC loads.
#include "dispatch/cost.hpp"

#include <gtest/gtest.h>

#include <set>

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

/// Rows and columns of tiles that the 16 CTAs from `first` on work on.
std::pair<std::size_t, std::size_t> strips_of_gpc(tile_order const& o, int first) {
  std::set<int> rows, cols;
  for (int i = first; i < first + 16; ++i) {
    tile_place const t = tile_walk(o).place(i);
    rows.insert(t.m), cols.insert(t.n);
  }
  return {rows.size(), cols.size()};
}

TEST(Cost, AGpcLoadsWhatItsSixteenTilesNeed) {
  gemm_config const c = tile_128x128();
  int compared = 0;
  for (int const m : {128, 256, 512, 1024, 2048})
    for (int const n : {512, 1024, 2048, 4096, 8192}) {
      gemm_problem const p = tn(m, n, 1024);
      int const tiles = (m / 128) * (n / 128);
      tile_order const o = usual_order_of(p, c, tiles);
      // Where a GPC's tiles are a rectangle of whole bands.
      if (tiles > 128 || tiles % 16 != 0 || 16 % o.band != 0 || o.m_tiles % o.band != 0 ||
          o.n_tiles % (16 / o.band) != 0)
        continue;
      double const loaded = gpc_bytes(p, c, {tiles, tiles, 0, 0}, 1, 1000);
      for (int first = 0; first < tiles; first += 16) {
        auto const [rows, cols] = strips_of_gpc(o, first);
        EXPECT_EQ(loaded, static_cast<double>(rows + 1000 * cols)) << m << "x" << n << " " << first;
      }
      ++compared;
    }
  EXPECT_GT(compared, 8);
}

TEST(Cost, FewPartsOfATileLieBesideEachOther) {
  gemm_config c = tile_128x128();
  EXPECT_EQ(parts_beside(c, {64, 64, 0, 0}), 1);
  EXPECT_EQ(parts_beside(c, {64, 128, 64, 128}), 2);
  EXPECT_EQ(parts_beside(c, {40, 120, 40, 120}), 3);
  EXPECT_EQ(parts_beside(c, {16, 128, 16, 128}), 1);  // of 8 parts the eighths of tiles are
  EXPECT_EQ(parts_beside(c, {100, 132, 100, 132}), 1);
  c.cluster_k = 8;
  EXPECT_EQ(parts_beside(c, {16, 16, 0, 0}), 8);
}

}  // namespace
}  // namespace tw::test
