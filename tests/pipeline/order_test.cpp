// SPDX-License-Identifier: Apache-2.0
// order_test.cpp  Laws of the tile orders and of the ring.
#include "tilewright/pipeline/order.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

#include "tilewright/pipeline/ring.hpp"

namespace tw::test {
namespace {

constexpr order_kind all_kinds[] = {order_kind::grouped, order_kind::serpentine,
                                    order_kind::hilbert};

/// place(0 .. tiles()-1) visits each tile exactly once.
constexpr bool visits_each_once(tile_order o) {
  bool seen[3072] = {};
  for (int i = 0; i < o.tiles(); ++i) {
    tile_place const t = o.place(i);
    if (t.m < 0 || t.m >= o.m_tiles || t.n < 0 || t.n >= o.n_tiles || t.batch < 0 ||
        t.batch >= o.batch)
      return false;
    bool& s = seen[(t.batch * o.m_tiles + t.m) * o.n_tiles + t.n];
    if (s) return false;
    s = true;
  }
  return true;
}
static_assert(visits_each_once({1, 1, 8}));
static_assert(visits_each_once({19, 7, 8}));
static_assert(visits_each_once({8, 31, 3}));
static_assert(visits_each_once({5, 7, 2, 3}));
static_assert(visits_each_once({5, 7, 2, 3, order_kind::serpentine}));
static_assert(visits_each_once({8, 31, 3, 1, order_kind::serpentine}));
static_assert(visits_each_once({9, 11, 4, 2, order_kind::hilbert}));
static_assert(visits_each_once({19, 21, 8, 1, order_kind::hilbert}));

/// Up to `most` tiles each way.
tile_order random_order(std::mt19937& rng, int most, int max_batch) {
  auto const any = [&](int limit) { return 1 + static_cast<int>(rng() % limit); };
  order_kind const kind = all_kinds[rng() % 3];
  int const band = kind == order_kind::hilbert ? 1 << (rng() % 6) : any(40);
  return {any(most), any(most), band, any(max_batch), kind};
}

TEST(TileOrder, VisitsEachTileOnce) {
  std::mt19937 rng(3);
  for (int i = 0; i < 3000; ++i) {
    tile_order const o = random_order(rng, 32, 3);
    order_kind const kind = o.kind;
    ASSERT_TRUE(visits_each_once(o)) << order_names[static_cast<int>(kind)] << " " << o.m_tiles
                                     << "x" << o.n_tiles << " band " << o.band;
  }
}

TEST(TileWalk, GoesAsTheOrderSays) {
  std::mt19937 rng(5);
  for (int i = 0; i < 3000; ++i) {
    tile_order const o = random_order(rng, i % 10 == 0 ? 20'000 : 40, 2);  // up to 2^30 tiles
    order_kind const kind = o.kind;
    tile_walk const walk(o);
    for (int k = 0; k < 200; ++k) {
      int const tile = static_cast<int>(rng() % static_cast<unsigned>(o.tiles()));
      tile_place const x = walk.place(tile), y = o.place(tile);
      ASSERT_TRUE(x.m == y.m && x.n == y.n && x.batch == y.batch)
          << order_names[static_cast<int>(kind)] << " " << o.m_tiles << "x" << o.n_tiles << "x"
          << o.batch << " band " << o.band << " tile " << tile;
    }
  }
}

/// Steps from a tile to the next.
int distance(tile_place a, tile_place b) { return std::abs(a.m - b.m) + std::abs(a.n - b.n); }

TEST(TileOrder, SerpentineNeighboursShareAnEdge) {
  for (int n_tiles = 1; n_tiles < 12; ++n_tiles) {
    tile_order const o{8, n_tiles, 8, 1, order_kind::serpentine};
    for (int i = 1; i < o.tiles(); ++i) EXPECT_EQ(distance(o.place(i - 1), o.place(i)), 1);
  }
  tile_order const two_bands{16, 9, 8, 1, order_kind::serpentine};
  EXPECT_EQ(two_bands.place(72).n, two_bands.place(71).n);  // the columns that were used last
}

TEST(TileOrder, HilbertNeighboursShareAnEdgeAcrossSquares) {
  for (int const side : {1, 2, 4, 8, 16, 32}) {
    tile_order const o{side, 3 * side, side, 1, order_kind::hilbert};
    for (int i = 1; i < o.tiles(); ++i) ASSERT_EQ(distance(o.place(i - 1), o.place(i)), 1) << side;
  }
}

/// Rows and columns that the tiles [first, first + wave) touch.
int strips_of_wave(tile_order const& o, int first, int wave) {
  std::vector<bool> row(static_cast<std::size_t>(o.m_tiles)),
      col(static_cast<std::size_t>(o.n_tiles));
  int strips = 0;
  for (int i = first; i < first + wave; ++i) {
    tile_place const t = o.place(i);
    auto const m = static_cast<std::size_t>(t.m), n = static_cast<std::size_t>(t.n);
    strips += (row[m] ? 0 : 1) + (col[n] ? 0 : 1);
    row[m] = col[n] = true;
  }
  return strips;
}

TEST(TileOrder, AWaveTouchesASquare) {
  // 64 clusters cover 8 rows and 8 columns of tiles: the smallest footprint of 64.
  for (order_kind const kind : all_kinds)
    for (int wave = 0; wave < 16; ++wave)
      EXPECT_EQ(strips_of_wave({32, 32, 8, 1, kind}, 64 * wave, 64), 16);
  // The quarters of a larger Hilbert square are squares too; bands of 16 are not.
  for (int wave = 0; wave < 16; ++wave)
    EXPECT_EQ(strips_of_wave({32, 32, 16, 1, order_kind::hilbert}, 64 * wave, 64), 16);
  EXPECT_EQ(strips_of_wave({32, 32, 16}, 0, 64), 20);
}

constexpr bool ring_turns() {
  ring<3> r;
  for (int i = 0; i < 12; ++i, r.next())
    if (r.stage != i % 3 || r.phase != static_cast<std::uint32_t>(i / 3 % 2)) return false;
  return true;
}
static_assert(ring_turns());

}  // namespace
}  // namespace tw::test
