// SPDX-License-Identifier: Apache-2.0
// footprint_test.cpp  The model that chooses the order of tiles.
#include "family/footprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <set>
#include <utility>

#include "tilewright/device/device.hpp"

namespace tw::test {
namespace {

tile_order_calibration const& limits() { return known_device("h200").model->tile_order; }
footprint footprint_of(tile_order const& o, strips const& s) {
  return tw::footprint_of(o, s, limits());
}
tile_order usual_order(tile_order const& grid, strips const& s, int tile_rows) {
  return tw::usual_order(grid, s, tile_rows, limits());
}
tile_order choose_order(tile_order const& grid, strips const& s, int tile_rows) {
  return tw::choose_order(grid, s, tile_rows, limits());
}

TEST(Footprint, AWaveThatIsASquareTouchesTheFewest) {
  strips const s{4e6, 4e6, false, false, 64};  // 8192^3 with tiles of 256 x 256
  footprint const f = footprint_of({32, 32, 8}, s);
  EXPECT_DOUBLE_EQ(f.touched, 16 * 4e6);
  EXPECT_DOUBLE_EQ(f.fresh, f.touched);  // 64 MB do not stay in L2
  EXPECT_DOUBLE_EQ(footprint_of({32, 32, 16}, s).touched, 20 * 4e6);
}

TEST(Footprint, PanelsThatAreReusedSoonAreNotFresh) {
  strips const s{1e6, 1e6, false, false, 64};
  // The first wave reads 8 rows and 8 columns, the other three of a band 8 new columns each; the
  // next band finds neither its rows nor, after 4 waves of 16 MB, its columns.
  EXPECT_DOUBLE_EQ(footprint_of({16, 32, 8}, s).fresh, (16 + 8 + 8 + 8) * 1e6 / 4);
  // In serpentine it begins with the columns that were used last.
  EXPECT_DOUBLE_EQ(footprint_of({16, 32, 8, 1, order_kind::serpentine}, s).fresh,
                   (16 + 7 * 8) * 1e6 / 8);
}

TEST(Footprint, ProductsOfABatchShareWhatIsTheSameForAll) {
  strips s{1e6, 1e6, false, false, 4};
  EXPECT_DOUBLE_EQ(footprint_of({2, 2, 2, 8}, s).fresh, 4e6);
  s.shared_cols = true;
  EXPECT_DOUBLE_EQ(footprint_of({2, 2, 2, 8}, s).fresh, 2e6 + 2e6 / 8);
}

TEST(Footprint, EveryPanelIsReadOnceIfTheCacheHoldsAll) {
  std::mt19937 rng(5);
  for (int i = 0; i < 200; ++i) {
    auto const any = [&](int most) { return 1 + static_cast<int>(rng() % most); };
    auto const kind = static_cast<order_kind>(i % 3);
    tile_order const o{any(20), any(20), 1 << any(4), any(3), kind};
    strips const s{1000, 3000, false, false, any(70)};
    int const waves = (o.tiles() + s.wave - 1) / s.wave;
    double const all = o.batch * (o.m_tiles * s.row_bytes + o.n_tiles * s.col_bytes);
    footprint const f = footprint_of(o, s);
    EXPECT_NEAR(f.fresh * waves, all, 1e-6 * all);
    EXPECT_GE(f.touched * waves, all * (1 - 1e-9));
  }
}

TEST(Footprint, FewColumnsRunSideBySide) {
  for (int n_tiles = 1; n_tiles <= 8; ++n_tiles) {
    tile_order const o = default_order({96, n_tiles, 1}, 64);
    int apart = 0;  // places between the first and the last tile of a row
    for (int row = 0; row < 96; ++row) {
      int first = -1, last = -1;
      for (int i = 0; i < o.tiles(); ++i)
        if (o.place(i).m == row) first = first < 0 ? i : first, last = i;
      apart = std::max(apart, last - first);
    }
    EXPECT_EQ(apart, (n_tiles <= 4 ? 4 : 32) * (n_tiles - 1)) << n_tiles;
  }
}

TEST(Footprint, AnotherOrderIsChosenOnlyWhereItReadsLess) {
  std::set<order_kind> seen;
  std::mt19937 rng(6);
  for (int i = 0; i < 200; ++i) {
    tile_order const grid{1 + static_cast<int>(rng() % 60), 1 + static_cast<int>(rng() % 60), 1};
    int const tile_rows = i % 2 == 0 ? 256 : 128;
    strips s{tile_rows * 8192.0, 192 * 16384.0, false, false, 32 + static_cast<int>(rng() % 100)};
    s.multicast = true;  // else one wave has another rule
    tile_order const usual = default_order(grid, tile_rows);
    tile_order const best = choose_order(grid, s, tile_rows);
    seen.insert(best.kind);
    bool const same = best.kind == usual.kind && best.band == usual.band;
    if (!same) {
      footprint const is = footprint_of(best, s), was = footprint_of(usual, s);
      EXPECT_LT(is.fresh + 0.40 * is.touched, 0.98 * (was.fresh + 0.40 * was.touched));
    }
    EXPECT_LE(best.band, best.m_tiles);
  }
  EXPECT_GE(seen.size(), 2U);
  // One wave, one row of tiles, or operands that the cache holds: nothing to choose.
  for (auto const& [grid, strip] :
       {std::pair{tile_order{8, 8, 1}, 4e6}, {{1, 900, 1}, 4e6}, {{60, 60, 1}, 2e5}}) {
    tile_order const o = choose_order(grid, {strip, strip, false, false, 64}, 256);
    EXPECT_EQ(o.kind, order_kind::grouped);
    EXPECT_EQ(o.band, std::min(8, grid.m_tiles));
  }
}

TEST(Footprint, NeighboursInOneWaveReadTheSamePanelsOfTheLargerOperand) {
  std::mt19937 rng(7);
  for (int i = 0; i < 200; ++i) {
    tile_order const grid{2 + static_cast<int>(rng() % 30), 2 + static_cast<int>(rng() % 30), 1};
    strips s{1e6 * static_cast<double>(1 + rng() % 3), 1e6 * static_cast<double>(1 + rng() % 3),
             false, false, grid.tiles()};
    tile_order const o = choose_order(grid, s, 64);
    double const rows = s.row_bytes * grid.m_tiles, cols = s.col_bytes * grid.n_tiles;
    if (rows == cols && s.row_bytes > s.col_bytes) {
      EXPECT_EQ(o.band, 2);
    } else if (rows > cols) {
      int turns = 0;  // to another panel of A
      for (int t = 1; t < o.tiles(); ++t) turns += o.place(t).m != o.place(t - 1).m ? 1 : 0;
      EXPECT_EQ(turns, grid.m_tiles - 1);
    } else {
      EXPECT_EQ(o.band, default_order(grid, 64).band);
    }
    s.multicast = true;
    EXPECT_EQ(choose_order(grid, s, 64).band, default_order(grid, 64).band);
  }
}

TEST(Footprint, MoreWavesRunAlongTheRowsOfALargerA) {
  int along = 0;
  for (int n_tiles = 2; n_tiles <= 30; ++n_tiles)
    for (double col_bytes : {1e6, 2e6, 4e6}) {
      tile_order const grid{300, n_tiles, 1};
      strips s{2e6, col_bytes, false, false, 132};
      tile_order const o = choose_order(grid, s, 128);
      // 132 tiles in whole rows: 132 / n_tiles panels of A, n_tiles of B.
      double const ratio = 132.0 / n_tiles * s.row_bytes / (n_tiles * col_bytes);
      if (ratio >= 0.6) {
        ++along;
        EXPECT_EQ(o.kind, n_tiles <= 4 ? order_kind::grouped : order_kind::serpentine) << n_tiles;
        EXPECT_EQ(o.band, n_tiles <= 4 ? 1 : 2) << n_tiles;
      } else {
        EXPECT_GT(o.band, 2) << n_tiles;
        EXPECT_EQ(usual_order(grid, s, 128).kind, order_kind::serpentine) << n_tiles;
      }
      // Clusters share the panels already: the usual order, or one that reads less.
      s.multicast = true;
      EXPECT_EQ(usual_order(grid, s, 128).kind, order_kind::grouped) << n_tiles;
      EXPECT_EQ(usual_order(grid, s, 128).band, n_tiles <= 4 ? 4 : 16) << n_tiles;
    }
  EXPECT_GT(along, 20);
  // B is the larger, or it is a batch: the order is unchanged.
  strips const s{1e6, 5e6, false, false, 132};
  EXPECT_EQ(choose_order({30, 8, 1}, s, 128).band, default_order({30, 8, 1}, 128).band);
  strips const larger_b{1e6, 2.55e6, false, false, 132};  // a wave of rows would be square
  EXPECT_EQ(usual_order({20, 8, 1}, larger_b, 128).band, 16);
  strips const equal{2e6, 2e6, false, false, 132};
  EXPECT_GE(choose_order({300, 8, 1, 4}, equal, 128).band, 8);
  EXPECT_EQ(usual_order({300, 8, 1, 4}, equal, 128).kind, order_kind::grouped);
}

// Two GEMMs whose orders were measured (docs/decisions/0032): 5120x8192x2880 in tiles of
// 128x168 on 131 SMs took less time in bands of 16, which touch fewer bytes, than in bands of 32,
// of which fewer are fresh; 4096x24576x1536 in tiles of 128x176 the other way round.
TEST(Footprint, BytesTouchedCountBesideFreshOnes) {
  strips const short_of_l2{128 * 5760., 168 * 5760., false, false, 131};
  EXPECT_EQ(choose_order({40, 49, 1}, short_of_l2, 128).band, 16);
  strips const short_of_dram{128 * 3072., 176 * 3072., false, false, 132};
  EXPECT_EQ(choose_order({32, 140, 1}, short_of_dram, 128).band, 32);
}

TEST(Footprint, ABandIsAPowerOfTwoOrAllRows) {
  EXPECT_EQ(default_order({13, 100, 1}, 128).band, 13);
  for (int rows : {64, 128, 192, 256, 384, 512})
    EXPECT_EQ(default_order({900, 900, 1}, rows).band, rows == 384   ? 4
                                                       : rows == 192 ? 8
                                                                     : 2048 / rows);
  // 14 rows of tiles: bands of 7 would read 2 % less than all rows, those of 8 a little more.
  for (int m = 5; m <= 33; ++m)
    for (int n : {9, 37, 61}) {
      strips const s{128 * 2 * 11420.0, 64 * 2 * 11420.0, false, false, 132};
      int const band = choose_order({m, n, 1}, s, 128).band;
      EXPECT_TRUE(band == m || std::has_single_bit(static_cast<unsigned>(band))) << m << "x" << n;
    }
}

TEST(Footprint, GroupedIsTakenWhereItReadsLessThanSerpentine) {
  strips const s{192 * 1412.0, 192 * 1412.0, false, false, 132};
  tile_order const grid{64, 65, 1};
  EXPECT_EQ(usual_order(grid, s, 192).kind, order_kind::serpentine);
  tile_order const chosen = choose_order(grid, s, 192);
  EXPECT_EQ(chosen.kind, order_kind::grouped);
  EXPECT_EQ(chosen.band, 8);
}

TEST(Footprint, SmallOperandsLeaveTheOrderToARowMajorD) {
  tile_order const grid{60, 60, 1};  // of 12 MB in all
  strips s{1e5, 1e5, false, false, 64};
  tile_order const of_rows = choose_order(grid, s, 256);
  EXPECT_EQ(of_rows.kind, order_kind::grouped);
  EXPECT_EQ(of_rows.band, 4);
  s.stores_rows = false;
  EXPECT_EQ(choose_order(grid, s, 256).band, 8);
}

}  // namespace
}  // namespace tw::test
