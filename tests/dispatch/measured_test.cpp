// SPDX-License-Identifier: Apache-2.0
// measured_test.cpp  Plans that were measured, and copies that pay.
#include <gtest/gtest.h>

#include "dispatch/winners.hpp"
#include "tests/dispatch/problems.hpp"

namespace tw::test {
namespace {

TEST(Measured, MeasuredPlansComeFirst) {
  gemm_operands o = aligned();
  o.workspace = o.d;
  o.workspace_bytes = std::int64_t{64} << 20;
  gemm_problem const p = tn(128, 128, 16384);
  auto const measured = find_winner(p, 132);
  ASSERT_TRUE(measured);
  gemm_plan const plan = plan_gemm(p, o, 132);
  EXPECT_EQ(plan.config.tile_n, measured->tile.tile_n);
  EXPECT_EQ(plan.shared_tiles, measured->shared_tiles);
  EXPECT_NE(plan.why.find("measured"), std::string::npos) << plan.why;
  EXPECT_FALSE(find_winner(tn(129, 128, 16384), 132));
  EXPECT_FALSE(find_winner(p, 114));  // another card
  gemm_problem padded = p;
  padded.a.pitch_elems += 8;
  EXPECT_FALSE(find_winner(padded, 132));
}

TEST(Measured, OperandsThatSplitLinesAreCopiedWhereThatPays) {
  gemm_operands o = aligned();
  gemm_problem const p = tn(4096, 4096, 4104);  // pitches of 8208 bytes
  gemm_plan const as_is = plan_gemm(p, o, 132);
  EXPECT_FALSE(as_is.repitch_a || as_is.repitch_b);
  ASSERT_EQ(as_is.hints.size(), 2U);
  EXPECT_NE(as_is.hints[0].find("loads take twice the time"), std::string::npos) << as_is.hints[0];
  o.workspace = o.d;
  o.workspace_bytes = gemm_workspace_bytes(p, o);
  gemm_plan const copied = plan_gemm(p, o, 132);
  EXPECT_TRUE(copied.repitch_a && copied.repitch_b) << copied.why;
  EXPECT_LT(copied.predicted_us, as_is.predicted_us);
  EXPECT_NE(copied.hints[0].find("copied to a padded pitch"), std::string::npos);
  gemm_plan const few = plan_gemm(tn(16, 4096, 4104), o, 132);  // reads its weights once
  EXPECT_FALSE(few.repitch_a || few.repitch_b) << few.why;
}

TEST(Measured, EveryMeasuredPlanIsStillOffered) {
  gemm_operands o = aligned();
  o.workspace = o.d;
  o.workspace_bytes = std::int64_t{256} << 20;  // shared tiles, copies of odd operands
  for (winner const& w : winners()) {
    bool const row_a = w.layout[0] == 'T', col_b = w.layout[1] == 'N';
    gemm_problem p;
    p.m = w.m, p.n = w.n, p.k = w.k;
    p.a = {w.ab, row_a ? order::row_major : order::col_major, row_a ? w.k : w.m};
    p.b = {w.ab, col_b ? order::col_major : order::row_major, col_b ? w.k : w.n};
    p.d = {w.d, order::row_major, w.n};
    gemm_plan const plan = plan_gemm(p, o, 132);
    EXPECT_EQ(plan.source, plan_source::table_of_winners)
        << w.m << "x" << w.n << "x" << w.k << " " << w.layout << ": " << plan.kernel;
  }
}

}  // namespace
}  // namespace tw::test
