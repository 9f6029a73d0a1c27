// SPDX-License-Identifier: Apache-2.0
// plan_copies_test.cpp  Operands that are copied before the GEMM: when, the workspace, the hints.
#include <gtest/gtest.h>

#include "family/sm90_gemm/config_of.hpp"
#include "tests/dispatch/problems.hpp"

namespace tw::test {
namespace {

TEST(Plan, ABatchStrideThatTmaCannotAddressIsAnnounced) {
  gemm_problem p = batch_of(tn(64, 64, 64), 4);
  p.a.batch_stride_elems += 1;
  p.b.batch_stride_elems += 8;
  p.d.batch_stride_elems += 1;
  for (gemm_plan const& x : plan_candidates(p, aligned(), h200())) {
    EXPECT_EQ(x.repitch.a, !x.swapped);
    EXPECT_EQ(x.repitch.b, x.swapped);
    EXPECT_TRUE(x.direct_d);
    EXPECT_NE(x.hints[0].find("batch stride of 8194 bytes"), std::string::npos) << x.hints[0];
  }
}

TEST(Plan, SlowerPathsAreAnnounced) {
  gemm_problem p = tn(64, 33, 31);
  gemm_plan const plan = best_plan(p, aligned(), h200());
  EXPECT_TRUE(plan.repitch.a && plan.repitch.b && plan.direct_d);
  ASSERT_EQ(plan.hints.size(), 3U);
  EXPECT_NE(plan.hints[0].find("62 bytes"), std::string::npos) << plan.hints[0];
  EXPECT_EQ(plan.hints[0].find(plan.swapped ? "B: " : "A: "), 0U) << plan.hints[0];
  gemm_problem const vector = tn(1, 40, 31);  // one row: its pitch does not matter
  gemm_plan const one_row = best_plan(vector, aligned(), h200());
  EXPECT_FALSE(one_row.swapped ? one_row.repitch.b : one_row.repitch.a);
}

/// One operand in another order than TN: with workspace there are plans that copy it and plans that
/// read it into registers; without, the latter alone.
TEST(Plan, AnOperandInAnotherOrderIsCopiedOrReadIntoRegisters) {
  struct {
    elem ab, d;
    bool a_by_cols;
  } const cases[] = {{elem::tf32, elem::f32, true},
                     {elem::tf32, elem::f32, false},
                     {elem::s8, elem::s32, true},
                     {elem::e4m3, elem::bf16, false}};
  for (auto const& c : cases) {
    gemm_problem p = tn(512, 768, 256);
    p.a.type = p.b.type = c.ab, p.d.type = c.d;
    if (c.a_by_cols)
      p.a.ord = order::col_major, p.a.pitch_elems = p.m;
    else
      p.b.ord = order::row_major, p.b.pitch_elems = p.n;
    int copied = 0, in_registers = 0;
    for (gemm_plan const& x : plan_candidates(p, with_workspace(), h200(), kernel_set::all)) {
      bool const copies = x.repitch.a || x.repitch.b;
      bool const reads = is_sm90_gemm(x) && config_of(x).a_in_registers();
      EXPECT_NE(copies, reads) << x.kernel;
      EXPECT_EQ(x.swapped, reads ? !c.a_by_cols : x.swapped) << x.kernel;
      EXPECT_EQ(copies, !x.hints.empty()) << x.kernel;
      copied += copies, in_registers += reads;
    }
    EXPECT_GT(copied, 0) << name(c.ab);
    EXPECT_GT(in_registers, 0) << name(c.ab);
    for (gemm_plan const& x : plan_candidates(p, aligned(), h200(), kernel_set::all)) {
      EXPECT_FALSE(x.repitch.a || x.repitch.b) << x.kernel;
      EXPECT_EQ(x.workspace_bytes, 0) << x.kernel;
    }
  }
}

/// No kernel with an activation reads A into registers: the plan copies A to the workspace, and has
/// a hint that says so.
TEST(Plan, AFusedEpilogueOfAnotherOrderNeedsItsWorkspace) {
  gemm_problem p = tn(512, 768, 256);
  p.a = {elem::s8, order::col_major, p.m};
  p.b.type = elem::s8;
  p.epilogue.act = activation::relu;
  gemm_plan const plan = best_plan(p, aligned(), h200());
  EXPECT_GT(plan.workspace_bytes, 512 * 256);
  ASSERT_FALSE(plan.hints.empty());
  EXPECT_NE(plan.hints[0].find("transposed in the workspace first"), std::string::npos);
}

}  // namespace
}  // namespace tw::test
