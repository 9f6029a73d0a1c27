// SPDX-License-Identifier: Apache-2.0
// work_test.cpp  Laws of the work of a launch: nothing is left out, nothing is done twice.
#include "tilewright/pipeline/work.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tilewright/pipeline/ring.hpp"

namespace tw::test {
namespace {

TEST(Work, EveryBlockOnceAndThePartsOfATileAreNeighbours) {
  std::mt19937 random(7);
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(random() % static_cast<unsigned>(hi - lo + 1));
  };
  for (int i = 0; i < 3000; ++i) {
    int const tiles = any(1, 60), k_tiles = any(1, 40), clusters = any(1, 20);
    int const shared = any(0, 2) == 0 ? 0 : any(1, tiles);
    work_plan const plan = make_work_plan(tiles, k_tiles, shared, any(1, clusters));
    ASSERT_LE(plan.split_k_clusters, clusters);
    std::vector<int> done(static_cast<std::size_t>(tiles * k_tiles), 0);
    std::vector<int> first(static_cast<std::size_t>(tiles), 1 << 30), last(first.size(), -1);
    std::vector<int> parts(first.size(), 0);
    for (int c = 0; c < clusters; ++c) {
      work_list list(plan, c);
      for (segment s{}; list.next(plan, clusters, s);) {
        ASSERT_LT(s.k_begin, s.k_end);
        for (int k = s.k_begin; k < s.k_end; ++k)
          ++done[static_cast<std::size_t>(s.tile * k_tiles + k)];
        auto const t = static_cast<std::size_t>(s.tile);
        first[t] = std::min(first[t], plan.part_of(c));
        last[t] = std::max(last[t], plan.part_of(c));
        ++parts[t];
      }
    }
    for (int const d : done) ASSERT_EQ(d, 1);
    for (int t = 0; t < plan.split_k_tiles; ++t) {
      auto const at = static_cast<std::size_t>(t);
      EXPECT_EQ(plan.first_part(t), first[at]);
      EXPECT_EQ(plan.last_part(t), last[at]);
      EXPECT_EQ(parts[at], last[at] - first[at] + 1);
      EXPECT_LE(parts[at], plan.max_parts());
    }
  }
}

TEST(Work, WholeTilesAreTheListOfAPlanThatSharesNone) {
  for (int tiles = 1; tiles < 30; ++tiles)
    for (int clusters = 1; clusters < 12; ++clusters) {
      work_plan const plan = make_work_plan(tiles, 7, 0, 0);
      for (int c = 0; c < clusters; ++c) {
        work_list list(plan, c);
        whole_tiles whole(plan, c);
        segment x{}, y{};
        while (list.next(plan, clusters, x)) {
          ASSERT_FALSE(whole.at_end(plan));
          ASSERT_TRUE(whole.next(plan, clusters, y));
          ASSERT_TRUE(x.tile == y.tile && x.k_begin == y.k_begin && x.k_end == y.k_end);
        }
        ASSERT_TRUE(whole.at_end(plan));
        ASSERT_FALSE(whole.next(plan, clusters, y));
      }
    }
}

TEST(Work, PartsDifferByOneBlockAtMost) {
  work_plan const plan = make_work_plan(40, 128, 40, 132);
  for (int c = 0; c < 132; ++c) {
    int const blocks = plan.part_begin(c + 1) - plan.part_begin(c);
    EXPECT_TRUE(blocks == 38 || blocks == 39) << blocks;
  }
  EXPECT_EQ(plan.part_begin(132), 40 * 128);
}

TEST(Work, WhereEachTileHasAsManyPartsNoneIsOfTwoTiles) {
  for (int tiles = 1; tiles < 20; ++tiles)
    for (int each = 1; each < 8; ++each)
      for (int const k_tiles : {8, 11, 85, 256}) {
        work_plan const plan = make_work_plan(tiles + 3, k_tiles, tiles, tiles * each);
        EXPECT_EQ(plan.max_parts(), each);
        for (int c = 0; c < tiles * each; ++c) {
          work_list list(plan, c);
          segment s{};
          ASSERT_TRUE(list.next(plan, tiles * each, s));
          EXPECT_EQ(s.tile, each >= 4 ? c % tiles : c / each);
          if (each >= 4 && c % tiles > 0) {  // the same K blocks as its neighbour's
            work_list neighbours(plan, c - 1);
            segment other{};
            ASSERT_TRUE(neighbours.next(plan, tiles * each, other));
            EXPECT_EQ(s.k_begin, other.k_begin);
            EXPECT_EQ(s.k_end, other.k_end);
          }
          EXPECT_LE(s.k_end - s.k_begin, (k_tiles + each - 1) / each);
          EXPECT_GE(s.k_end - s.k_begin, k_tiles / each);
          if (list.next(plan, tiles * each, s)) {
            EXPECT_GE(s.tile, tiles);
          }
        }
      }
}

TEST(Ring, SkipIsManySteps) {
  for (int steps = 0; steps < 20; ++steps) {
    ring<3> one, other;
    one.next(), other.next();
    for (int i = 0; i < steps; ++i) one.next();
    other.skip(steps);
    EXPECT_EQ(one.stage, other.stage);
    EXPECT_EQ(one.phase, other.phase);
  }
}

}  // namespace
}  // namespace tw::test
