// SPDX-License-Identifier: Apache-2.0
// schedule_test.cpp  Laws of shards and of the steps of ranks, for up to 16 ranks.
#include "tilewright/dist/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace tw::dist {
namespace {

constexpr path all_paths[] = {path::serial, path::two_pieces, path::pieces, path::direct,
                              path::gated};

/// Even shards, one rank with all rows, empty shards in between, and random ones.
std::vector<shards> shards_for(int ranks, std::mt19937& rng) {
  std::vector<shards> list{shards::even(0, ranks), shards::even(1, ranks),
                           shards::even(ranks - 1, ranks), shards::even(37 * ranks + 5, ranks)};
  for (int r = 0; r < ranks; ++r) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(ranks), 0);
    sizes[static_cast<std::size_t>(r)] = 9;
    list.emplace_back(sizes);
  }
  for (int i = 0; i < 20; ++i) {
    std::vector<std::int64_t> sizes;
    for (int r = 0; r < ranks; ++r) sizes.push_back(rng() % 3 == 0 ? 0 : rng() % 300);
    list.emplace_back(sizes);
  }
  return list;
}

template <class Check>
void for_each_rank(Check const& check) {
  std::mt19937 rng(1);
  for (int ranks = 1; ranks <= max_ranks; ++ranks)
    for (shards const& s : shards_for(ranks, rng))
      for (path const via : all_paths)
        for (int rank = 0; rank < ranks; ++rank) check(via, s, rank);
}

/// Is each row of [0, extent) in one range alone?
void expect_each_row_once(std::vector<range> ranges, std::int64_t extent) {
  std::erase_if(ranges, [](range r) { return r.empty(); });
  std::sort(ranges.begin(), ranges.end(), [](range a, range b) { return a.begin < b.begin; });
  std::int64_t end = 0;
  for (range const r : ranges) {
    EXPECT_EQ(r.begin, end);
    end = r.end();
  }
  EXPECT_EQ(end, extent);
}

std::vector<int> all_but(int ranks, int rank) {
  std::vector<int> list(static_cast<std::size_t>(ranks));
  std::iota(list.begin(), list.end(), 0);
  list.erase(list.begin() + rank);
  return list;
}

TEST(Shards, EvenOnesDifferByAtMostOneRowAndAreDisjoint) {
  for (int ranks = 1; ranks <= max_ranks; ++ranks)
    for (std::int64_t const extent : {0, 1, 5, 16, 17, 1000, 4097}) {
      shards const s = shards::even(extent, ranks);
      std::vector<range> ranges;
      for (int r = 0; r < ranks; ++r) {
        ranges.push_back(s.of(r));
        EXPECT_LE(s.largest() - s.of(r).size, 1);
        EXPECT_GE(s.of(0).size, s.of(r).size);
      }
      expect_each_row_once(ranges, extent);
    }
}

TEST(Schedule, EachStepIsAPermutationOfTheRanks) {
  for (int ranks = 1; ranks <= max_ranks; ++ranks)
    for (int step = 0; step < ranks; ++step) {
      std::vector<bool> receives(static_cast<std::size_t>(ranks), false);
      for (int rank = 0; rank < ranks; ++rank) {
        int const to = receiver(ranks, rank, step);
        ASSERT_TRUE(to >= 0 && to < ranks);
        EXPECT_FALSE(receives[static_cast<std::size_t>(to)]);
        receives[static_cast<std::size_t>(to)] = true;
        EXPECT_EQ(sender(ranks, to, step), rank);  // the same exchange, seen by the other rank
        EXPECT_EQ(to == rank, step == 0);
      }
    }
}

TEST(Schedule, AGatherMultipliesEachRowOnceAndWaitsForEachPeerOnce) {
  for_each_rank([](path via, shards const& s, int rank) {
    std::vector<range> rows;
    std::vector<int> waits;
    for (gather_step const& step : gather_steps(via, s, rank)) {
      rows.push_back(step.rows);
      waits.insert(waits.end(), step.waits_for.begin(), step.waits_for.end());
      // No row is multiplied before its rank has been waited for.
      for (int r = 0; r < s.ranks(); ++r) {
        range const theirs = s.of(r);
        bool const overlap =
            !theirs.empty() && step.rows.begin < theirs.end() && theirs.begin < step.rows.end();
        bool const there = r == rank || std::find(waits.begin(), waits.end(), r) != waits.end();
        EXPECT_TRUE(!overlap || there);
      }
    }
    expect_each_row_once(rows, s.extent());
    std::sort(waits.begin(), waits.end());
    EXPECT_EQ(waits, all_but(s.ranks(), rank));
  });
}

TEST(Schedule, AReductionComputesEachRowOnceAndSendsEachPeerItsRowsAfterThat) {
  for_each_rank([](path via, shards const& s, int rank) {
    std::vector<range> rows;
    std::vector<int> sent;
    std::vector<reduce_step> const steps = reduce_steps(via, s, rank);
    for (reduce_step const& step : steps) {
      rows.push_back(step.rows);
      for (int const to : step.sends_to) {
        sent.push_back(to);
        for (std::int64_t row = s.of(to).begin; row < s.of(to).end(); ++row)
          EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                                  [&](range r) { return r.begin <= row && row < r.end(); }));
      }
    }
    expect_each_row_once(rows, s.extent());
    std::sort(sent.begin(), sent.end());
    EXPECT_EQ(sent, all_but(s.ranks(), rank));
    if (!has_one_gemm(via)) {
      EXPECT_EQ(steps.back().rows, s.of(rank));
    }
  });
}

TEST(Schedule, InPiecesTheShardOfAStepIsThatOfItsSender) {
  for (int ranks = 2; ranks <= max_ranks; ++ranks) {
    shards const s = shards::even(100, ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<gather_step> const gather = gather_steps(path::pieces, s, rank);
      std::vector<reduce_step> const reduce = reduce_steps(path::pieces, s, rank);
      for (int i = 1; i < ranks; ++i) {
        EXPECT_EQ(gather[static_cast<std::size_t>(i)].waits_for,
                  std::vector<int>{sender(ranks, rank, i)});
        EXPECT_EQ(gather[static_cast<std::size_t>(i)].rows, s.of(sender(ranks, rank, i)));
        EXPECT_EQ(reduce[static_cast<std::size_t>(i - 1)].sends_to,
                  std::vector<int>{receiver(ranks, rank, i)});
      }
    }
  }
}

}  // namespace
}  // namespace tw::dist
