// SPDX-License-Identifier: Apache-2.0
// invariant_test.cpp  Which plans serve reproducible GEMMs: one order of sums for all M, N and SMs.
#include <gtest/gtest.h>

#include <set>

#include "tests/dispatch/problems.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw::test {
namespace {

gemm_problem reproducible(gemm_problem p) {
  p.reproducible = true;
  return p;
}

sum_order order_of(gemm_plan const& p, device const& dev) {
  return p.family->order_of_sums(p, dev);
}

TEST(Invariant, PlansOfAllShapesHaveOneOrder) {
  std::set<std::string> orders;
  for (int const sms : {2, 78, 132})
    for (std::int64_t const m : {1, 3, 16, 100, 512, 5000})
      for (std::int64_t const n : {8, 512, 4096}) {
        device const dev = with_sm_count(h200(), sms);
        std::vector<gemm_plan> const plans =
            plan_candidates(reproducible(tn(m, n, 8192)), aligned(), dev, kernel_set::all);
        for (gemm_plan const& p : plans) {
          EXPECT_TRUE(order_of(p, dev).fixed()) << p.kernel << ": " << order_of(p, dev).why_not;
          EXPECT_EQ(p.schedule.split_k_tiles, 0) << p.kernel;
          EXPECT_EQ(p.family->id(), "sm90_gemm");
          orders.insert(order_of(p, dev).text);
        }
      }
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(*orders.begin(), "wgmma of 16 elements of K, one after another, in float32");
}

/// Without the request a small M is planned in another order: it decides.
TEST(Invariant, RequestChangesThePlanOfASmallM) {
  gemm_problem const p = tn(1, 4096, 8192);
  gemm_plan const free = best_plan(p, aligned(), h200());
  EXPECT_FALSE(order_of(free, h200()).fixed()) << free.kernel;
  EXPECT_FALSE(order_of(free, h200()).why_not.empty());
  gemm_plan const fixed = best_plan(reproducible(p), aligned(), h200());
  EXPECT_TRUE(order_of(fixed, h200()).fixed()) << fixed.kernel;
  EXPECT_GE(fixed.predicted_us, free.predicted_us);
}

TEST(Invariant, IntegersAreExactInEverySchedule) {
  gemm_problem p = tn(64, 512, 16384);
  p.a.type = p.b.type = elem::s8, p.d.type = elem::s32;
  std::vector<gemm_plan> const any = plan_candidates(p, aligned(), h200(), kernel_set::all);
  EXPECT_EQ(plan_candidates(reproducible(p), aligned(), h200(), kernel_set::all).size(),
            any.size());
}

TEST(Invariant, PermissionForF16SumsIsNotUsed) {
  gemm_problem p = reproducible(tn(512, 512, 4096));
  p.a.type = p.b.type = p.d.type = elem::f16;
  p.precision.f16_sums = true;
  for (gemm_plan const& x : plan_candidates(p, aligned(), h200(), kernel_set::all))
    EXPECT_EQ(order_of(x, h200()).text, "wgmma of 16 elements of K, one after another, in float32");
}

/// TW0460 where only kernels of other orders are offered: on a GPU that runs nothing but mma.sync,
/// but is no Ampere GPU.
TEST(Invariant, RefusesWhereOnlyOtherOrdersAreOffered) {
  device other = h200();
  other.compute_capability = 120;
  ASSERT_FALSE(plan_candidates(tn(64, 64, 64), aligned(), other, kernel_set::all).empty());
  try {
    plan_candidates(reproducible(tn(64, 64, 64)), aligned(), other, kernel_set::all);
    FAIL() << "no family states an order for this GPU";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0460");
    EXPECT_NE(r.why().got.find("sm80_"), std::string::npos) << r.what();
  }
}

/// Where a scale is multiplied, and so how it is rounded, must not depend on M and N.
TEST(Invariant, PlaceOfScalesDependsOnKAlone) {
  gemm_problem p = tn(128, 128, 128);
  p.a.type = p.b.type = elem::e4m3;
  scale_desc const square{.block_outer = 128, .block_k = 128, .stride_outer = 1, .stride_k = 8};
  p.scale_b = square;
  gemm_problem wide = p;
  wide.n = 256;
  EXPECT_NE(scales_in_main_loop(p), scales_in_main_loop(wide));
  EXPECT_EQ(scales_in_main_loop(reproducible(p)), scales_in_main_loop(reproducible(wide)));
}

TEST(Invariant, AmpereHasASeparateOrder) {
  device const a100 = known_device("a100");
  for (std::int64_t const m : {1, 100, 4096})
    for (gemm_plan const& p :
         plan_candidates(reproducible(tn(m, 512, 512)), aligned(), a100, kernel_set::all))
      EXPECT_EQ(order_of(p, a100).text,
                "mma.sync of 16 elements of K, one after another, in float32");
}

}  // namespace
}  // namespace tw::test
