// SPDX-License-Identifier: Apache-2.0
// gathered_plans_test.cpp  Plans of GEMMs of groups whose rows an index array names: the kernel
//                          gathers, or a launch before it copies the rows in order.
#include <gtest/gtest.h>

#include <algorithm>

#include "family/operand_scales.hpp"
#include "tests/dispatch/problems.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw::test {
namespace {

/// Of `rows` rows in 8 groups, each a row of `tokens` rows of A.
gemm_problem gathered(std::int64_t rows, std::int64_t tokens, std::int64_t n, std::int64_t k) {
  gemm_problem p = tn(rows, n, k);
  p.b.batch_stride_elems = n * k;
  p.groups = group_desc{.axis = group_axis::m, .count = 8, .gather_from = tokens};
  return p;
}
std::vector<gemm_plan> plans_of(gemm_problem const& p, gemm_operands o,
                                std::int64_t workspace_bytes = std::int64_t{1} << 30) {
  o.workspace_bytes = workspace_bytes;
  return plan_candidates(p, o, h200(), kernel_set::all);
}
auto const is_ordered = [](gemm_plan const& x) { return x.ordered.has_value(); };

/// docs/decisions/0089: many rows of a group are copied in order first, few are gathered by the
/// kernel, and so are all if the workspace is too small for the copy.
TEST(GatheredPlans, ManyRowsAreCopiedInOrderFirst) {
  auto const plan_of = [](std::int64_t tokens, std::int64_t workspace_bytes) {
    return plans_of(gathered(2 * tokens, tokens, 28672, 4096), aligned(), workspace_bytes).front();
  };
  gemm_plan const many = plan_of(4096, 1 << 30);
  ASSERT_TRUE(many.ordered) << many.why;
  EXPECT_EQ(many.normal.groups->gather_from, 0);
  EXPECT_GE(many.workspace_bytes, 8192 * 4096 * 2);
  EXPECT_GT(many.terms.copies, 0);
  EXPECT_NE(shown_kernel(many), many.kernel);
  ASSERT_EQ(many.hints.size(), 1U);
  EXPECT_NE(many.hints[0].find("67.1 MB"), std::string::npos) << many.hints[0];
  for (gemm_plan const& x : {plan_of(16, 1 << 30), plan_of(4096, 8192 * 4096 * 2)}) {
    EXPECT_FALSE(x.ordered) << x.why;
    EXPECT_EQ(x.normal.groups->gather_from, x.problem.groups->gather_from);
    EXPECT_EQ(shown_kernel(x), x.kernel);
    EXPECT_TRUE(x.hints.empty()) << x.hints[0];
  }
}

TEST(GatheredPlans, AWorkspaceForEachPlanHoldsTheCopy) {
  gemm_problem const p = gathered(8192, 4096, 28672, 4096);
  EXPECT_TRUE(plans_of(p, aligned(), gemm_workspace_bytes(p, aligned())).front().ordered);
}

/// The launch copies one kind of scales.
TEST(GatheredPlans, RowsWithTwoKindsOfScalesAreNotCopied) {
  gemm_problem p = gathered(512, 256, 1024, 1024);
  p.a.type = p.b.type = elem::e4m3;
  p.scale_a = make_scale({false, 256, p.k}, scaling::block_1x128);
  p.scale_b = make_scale({true, p.n, p.k}, scaling::block_128x128);
  p.scale_b->batch_stride = scale_extent(*p.scale_b, p.n, p.k);
  p.epilogue.act = activation::silu;
  EXPECT_TRUE(std::ranges::any_of(plans_of(p, aligned()), is_ordered));
  p.epilogue.row_scale = along::rows;
  EXPECT_TRUE(std::ranges::none_of(plans_of(p, aligned()), is_ordered));
}

TEST(GatheredPlans, RowsOfFloat32AreCopiedForBothOrdersOfB) {
  gemm_problem p = gathered(512, 256, 1024, 1024);
  p.a.type = p.b.type = p.d.type = elem::f32;
  for (order const of_b : {order::col_major, order::row_major}) {
    p.b.ord = of_b;
    auto const plans = plans_of(p, aligned());
    EXPECT_TRUE(std::ranges::all_of(plans, is_ordered));
  }
}

/// TMA reads the copy.
TEST(GatheredPlans, RowsAtAnyAddressAreCopied) {
  gemm_operands o = aligned();
  o.a = static_cast<std::byte const*>(o.a) + 2;
  EXPECT_TRUE(std::ranges::all_of(plans_of(gathered(512, 256, 1024, 1024), o), is_ordered));
}

/// One row is computed from any row of A, and takes the scale of that row.
TEST(GatheredPlans, OneRowTakesTheScaleOfTheRowThatIsGathered) {
  gemm_problem p = gathered(1, 5, 1024, 1024);
  p.a.type = p.b.type = elem::e4m3;
  p.scale_a = make_scale({false, 5, p.k}, scaling::row);
  p.scale_b = make_scale({true, p.n, p.k}, scaling::tensor);
  EXPECT_FALSE(with_epilogue_scales(p).epilogue.row_scale.one);
  p.scale_a = make_scale({false, 5, p.k}, scaling::block_1x128);
  EXPECT_EQ(scales_of(p, aligned(), role::a).outer_log2, 0);
  p.groups->gather_from = 0;
  EXPECT_EQ(scales_of(p, aligned(), role::a).outer_log2, all_outer_log2);
}

}  // namespace
}  // namespace tw::test
