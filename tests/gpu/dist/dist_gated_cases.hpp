// SPDX-License-Identifier: Apache-2.0
// dist_gated_cases.hpp  The tests of path::gated on GPUs, for any way to make their ranks.
#pragma once

#include "tests/gpu/dist/dist_cases.hpp"

namespace tw::dist::test {

inline constexpr path by_gates[] = {path::gated};
inline constexpr types gated_types[] = {{elem::bf16, elem::f32},
                                        {elem::bf16, elem::bf16},
                                        {elem::f16, elem::f16},
                                        {elem::e4m3, elem::bf16}};

class GpuGates : public testing::Test {
 protected:
  void SetUp() override {
    if (world.share_a_gpu()) GTEST_SKIP() << "the ranks share a GPU";
  }
};

TEST_F(GpuRanks, GatesOfRanksThatShareAGpuAreRefused) {
  if (!world.share_a_gpu()) GTEST_SKIP();
  ranks_case c = gated_case(gated_types[1], 540, world.ranks);
  auto const groups = world.make({.gathered_bytes = c.gathered_bytes, .timeout_s = 60});
  on_ranks(groups, [&](group const& g, auto const&) {
    on_gpu x(c.of_rank[static_cast<std::size_t>(g.rank())]);
    rank_stream const stream;
    rejection const r = refusal_of([&] {
      call(c, g, x.problem(), x.operands(0),
           {.rows = c.rows, .via = path::gated, .stream = stream});
    });
    EXPECT_EQ(r.code, "TW0904");
    EXPECT_TRUE(has(r, "ranks that share a GPU")) << to_string(r);
    EXPECT_FALSE(g.broken());
  });
}

TEST_F(GpuGates, GatesGiveTheBitsOfOneDevice) {
  for (std::uint64_t const seed : {500U, 501U})
    for (types const t : gated_types) {
      check_case_on_gpu(gated_case(t, seed, world.ranks), seed, by_gates);
      if (HasFailure()) return;
    }
  check_case_on_gpu(gated_case(gated_types[1], 502, world.ranks, 3), 502, by_gates);
}

/// A rank may take another path than its peers.
TEST_F(GpuGates, ManyCallsByGatesAndPieces) {
  std::vector<ranks_case> cases;
  for (types const t : gated_types) cases.push_back(gated_case(t, 510 + cases.size(), world.ranks));
  check_many_calls(std::move(cases), 300, 0xFFFFFFF0U,
                   [](auto& rng, group const& g, ranks_case const&) {
                     bool const pieces = (rng() + static_cast<std::uint64_t>(g.rank())) % 4 == 0;
                     return call_options{.via = pieces ? path::pieces : path::gated};
                   });
}

TEST_F(GpuGates, GraphsOfGatedCallsAreReplayedBetweenOtherCalls) {
  check_graphs(gated_case(gated_types[0], 520, world.ranks), path::gated);
}

TEST_F(GpuGates, TwoGroupsAtOnceByGates) {
  check_two_groups(gated_case(gated_types[1], 530, world.ranks, 2),
                   gated_case(gated_types[2], 531, world.ranks, 2), path::gated);
}

/// The GEMMs that wait leave their gates, and the process lives on.
TEST_F(GpuGates, ALateRankAtAGateIsNamed) {
  if (world.ranks < 2) GTEST_SKIP();
  int const last = world.ranks - 1;
  check_failure(
      {.timeout_s = 1}, [&](int rank) { return rank != last; },
      [&](group const& g) {
        if (g.rank() == last) std::this_thread::sleep_for(std::chrono::seconds(3));
      },
      [&](int, rejection const& r) {
        EXPECT_TRUE(r.code == "TW0905" || r.code == "TW0906") << to_string(r);
        EXPECT_TRUE(has(r, "for rank " + std::to_string(last) + " in call 1")) << to_string(r);
      },
      {}, path::gated);
}

TEST_F(GpuGates, AbortOpensTheGatesOfAllRanks) {
  if (world.ranks < 2) GTEST_SKIP();
  check_failure(
      {.timeout_s = 300}, [](int rank) { return rank != 1; },
      [](group const& g) {
        if (g.rank() != 1) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        g.abort();
      },
      [](int, rejection const& r) {
        EXPECT_EQ(r.code, "TW0906");
        EXPECT_TRUE(has(r, "rank 1 called abort()")) << to_string(r);
      },
      {}, path::gated);
}

}  // namespace tw::dist::test
