// SPDX-License-Identifier: Apache-2.0
// group_timeline_test.cpp  A call over several GPUs in time: laws of its blocks, and the model's
//                          times.
#include <gtest/gtest.h>

#include <algorithm>

#include "tilewright/device/device.hpp"
#include "tools/command/plan/group_timeline.hpp"

namespace tw {
namespace {

dist::group_plan plan_of(dist::operation op, int ranks, std::int64_t m) {
  gemm_problem p;
  p.m = m, p.n = 4096, p.k = 4096;
  p.a = {elem::bf16, order::row_major, p.k};
  p.b = {elem::bf16, order::col_major, p.k};
  p.d = {elem::bf16, order::row_major, p.n};
  return dist::plan_over_ranks(op, p, ranks, known_device("h200"));
}

constexpr dist::operation operations[] = {dist::operation::all_gather_gemm,
                                          dist::operation::gemm_reduce_scatter,
                                          dist::operation::gemm_all_reduce};

TEST(CallTimeline, EachRankComputesEachRowOnceAndItsQueuesAreInOrder) {
  for (dist::operation const op : operations)
    for (int const ranks : {1, 2, 3, 8})
      for (std::int64_t const m : {5, 1000, 8192})
        for (std::size_t via = 0; via < std::size(dist::path_names); ++via) {
          dist::group_plan const g = plan_of(op, ranks, m);
          if (static_cast<dist::path>(via) == dist::path::gated && !g.gated) continue;
          auto const blocks = call_blocks(g, static_cast<dist::path>(via));
          for (int r = 0; r < ranks; ++r) {
            std::vector<int> times(static_cast<std::size_t>(m), 0);
            double end[2] = {0, 0};
            int copies = 0;
            for (call_block const& b : blocks) {
              if (b.rank != r) continue;
              EXPECT_GE(b.begin, end[b.by_engine ? 1 : 0]);
              EXPECT_GE(b.end, b.begin);
              end[b.by_engine ? 1 : 0] = b.end;
              copies += b.act == call_act::copy ? 1 : 0;
              for (std::int64_t i = b.rows.begin; i < b.rows.end(); ++i)
                ++times[static_cast<std::size_t>(i)];
            }
            EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](int n) { return n == 1; }))
                << name(op) << " " << dist::path_names[via] << " rank " << r << " of " << ranks;
            EXPECT_GE(copies, ranks - 1);
          }
        }
}

TEST(CallTimeline, SerialCallsTakeTheTimeOfTheModelAndPiecesHideCopies) {
  for (dist::operation const op :
       {dist::operation::all_gather_gemm, dist::operation::gemm_reduce_scatter}) {
    dist::group_plan const g = plan_of(op, 4, 8192);
    auto const end_of = [&](dist::path via) {
      double end = 0;
      for (call_block const& b : call_blocks(g, via)) end = std::max(end, b.end);
      return end;
    };
    EXPECT_NEAR(end_of(dist::path::serial), g.paths[0].us, 1e-6);
    EXPECT_LT(end_of(dist::path::pieces), end_of(dist::path::serial));
    double const least = std::max(4 * g.own_us, g.exchange_us) + g.later_us;
    EXPECT_GE(end_of(dist::path::pieces), least - 1e-6);
    if (dist::path_time const* const gated = g.find(dist::path::gated)) {
      EXPECT_NEAR(end_of(dist::path::gated), gated->us, 1e-6);
    }
  }
}

TEST(CallTimeline, ASmallCallTakesTheTimeOfItsExchangeAndItsGemm) {
  for (dist::operation const op : operations) {
    dist::group_plan const g = plan_of(op, 4, 64);
    dist::path_time const* const direct = g.find(dist::path::direct);
    ASSERT_NE(direct, nullptr) << name(op);
    double end = 0;
    for (call_block const& b : call_blocks(g, dist::path::direct)) end = std::max(end, b.end);
    EXPECT_NEAR(end, direct->us, 1e-6) << name(op);
  }
}

TEST(CallTimeline, ThePictureHasARowForEachRankAndOneForCopies) {
  std::string const svg = call_timeline_svg(plan_of(operations[0], 3, 6000));
  for (char const* const part : {"serial: ", "two-pieces: ", "pieces: ", "gated: ", ">rank 2<",
                                 ">copies of rank 0<", "rows 0-1999", "to 2"})
    EXPECT_NE(svg.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace tw
