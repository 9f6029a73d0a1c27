// SPDX-License-Identifier: Apache-2.0
// order_test.cpp  Laws of the tile order and of the ring.
#include "tilewright/pipeline/order.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tilewright/pipeline/ring.hpp"

namespace tw::test {
namespace {

/// place(0 .. tiles()-1) visits each tile exactly once.
constexpr bool visits_each_once(banded_order o) {
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

TEST(BandedOrder, VisitsEachTileOnce) {
  std::mt19937 rng(3);
  for (int i = 0; i < 2000; ++i) {
    banded_order const o{1 + static_cast<int>(rng() % 32), 1 + static_cast<int>(rng() % 32),
                         1 + static_cast<int>(rng() % 40), 1 + static_cast<int>(rng() % 3)};
    ASSERT_TRUE(visits_each_once(o)) << o.m_tiles << "x" << o.n_tiles << " band " << o.band;
  }
}

TEST(BandedOrder, AWaveTouchesASquare) {
  // 64 clusters at band 8 cover 8 rows and 8 columns of tiles: the smallest footprint of 64.
  banded_order const o{32, 32, 8};
  for (int wave = 0; wave < 16; ++wave) {
    int m_lo = 99, m_hi = 0, n_lo = 99, n_hi = 0;
    for (int i = 64 * wave; i < 64 * (wave + 1); ++i) {
      tile_place const t = o.place(i);
      m_lo = std::min(m_lo, t.m), m_hi = std::max(m_hi, t.m);
      n_lo = std::min(n_lo, t.n), n_hi = std::max(n_hi, t.n);
    }
    EXPECT_EQ(m_hi - m_lo + 1, 8);
    EXPECT_EQ(n_hi - n_lo + 1, 8);
  }
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
