// SPDX-License-Identifier: Apache-2.0
// plan_cache_test.cpp  A plan is made once per problem, alignment, workspace and device.
#include "dispatch/plan/plan_cache.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "tests/dispatch/problems.hpp"
#include "tilewright/problem/block_scale_convention.hpp"

namespace tw::test {
namespace {

void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }
TEST(PlanCache, TheSameProblemIsPlannedOnce) {
  forget_plans();
  auto const first = cached_plan(tn(512, 512, 512), with_workspace(), h200(), 0);
  gemm_operands elsewhere = with_workspace();
  elsewhere.a = at(0x7000), elsewhere.b = at(0x7010), elsewhere.d = at(0x7020);
  EXPECT_EQ(cached_plan(tn(512, 512, 512), elsewhere, h200(), 0), first);
  EXPECT_EQ(cached_plans(), 1U);
  gemm_plan const again = plan_gemm(tn(512, 512, 512), with_workspace(), h200());
  EXPECT_EQ(first->kernel, again.kernel);
  EXPECT_EQ(first->why, again.why);
}

TEST(PlanCache, EveryInputOfAPlanDistinguishesProblems) {
  forget_plans();
  gemm_problem const p = tn(512, 512, 512);
  std::vector<gemm_problem> others(12, p);
  others[0].m = 511;
  others[1].n = 504;
  others[2].k = 504;
  others[3].a.pitch_elems = 520;
  others[4].b.pitch_elems = 520;
  others[5].d.pitch_elems = 520;
  others[6].a.ord = order::col_major;
  others[7].b.ord = order::row_major;
  others[8].d.type = elem::f32;
  others[9].alpha = 2;
  others[10].c = p.d, others[10].beta = 1;
  others[11].c = p.d, others[11].beta = 1, others[11].c->type = elem::f32;
  cached_plan(p, with_workspace(), h200(), 0);
  for (gemm_problem const& x : others)
    EXPECT_EQ(cached_plan(x, with_workspace(), h200(), 0)->problem, x);
  std::size_t const problems = others.size() + 1;
  EXPECT_EQ(cached_plans(), problems);

  std::vector<gemm_operands> operands(4, with_workspace());
  operands[0].a = at(0x1008);
  operands[1].b = at(0x1008);
  operands[2].d = at(0x1008);
  operands[3].workspace_bytes = 0;
  for (gemm_operands const& o : operands) cached_plan(p, o, h200(), 0);
  cached_plan(p, with_workspace(), with_sm_count(h200(), 131), 0);
  cached_plan(p, with_workspace(), h200(), 1);
  EXPECT_EQ(cached_plans(), problems + 6);
  gemm_problem scaled = p;  // whether scales are copied depends on where they lie
  scaled.a.type = scaled.b.type = elem::e2m1;
  scaled.scale_a = make_block_scale({false, p.m, p.k}, block_format::nvfp4);
  scaled.scale_b = make_block_scale({true, p.n, p.k}, block_format::nvfp4);
  gemm_operands at_16 = with_workspace();
  at_16.scale_a = at_16.scale_b = at(0x2000);
  gemm_operands odd_a = at_16, odd_b = at_16;
  odd_a.scale_a = odd_b.scale_b = at(0x2004);
  for (gemm_operands const* o : {&at_16, &odd_a, &odd_b, &at_16}) {
    auto const plan = cached_plan(scaled, *o, known_device("b200"), 0);
    bool const a = (plan->swapped ? plan->scales_from.b : plan->scales_from.a).has_value();
    bool const b = (plan->swapped ? plan->scales_from.a : plan->scales_from.b).has_value();
    EXPECT_EQ(a, o == &odd_a);
    EXPECT_EQ(b, o == &odd_b);
  }
  EXPECT_EQ(cached_plans(), problems + 9);
  auto const copies_a = [&](gemm_operands const& o) {
    auto const plan = cached_plan(p, o, h200(), 0);
    return plan->swapped ? plan->repitch.b : plan->repitch.a;
  };
  EXPECT_TRUE(copies_a(operands[0]));
  EXPECT_FALSE(copies_a(operands[1]));
}

TEST(PlanCache, MinusZeroIsZero) {
  forget_plans();
  gemm_problem p = tn(64, 64, 64);
  p.alpha = 0.0F;
  cached_plan(p, with_workspace(), h200(), 0);
  p.alpha = -0.0F;
  cached_plan(p, with_workspace(), h200(), 0);
  EXPECT_EQ(cached_plans(), 1U);
}

TEST(PlanCache, ARefusalIsNotRemembered) {
  forget_plans();
  EXPECT_THROW(cached_plan(tn(0, 1, 1), with_workspace(), h200(), 0), rejected);
  EXPECT_EQ(cached_plans(), 0U);
}

TEST(PlanCache, StaysBounded) {
  forget_plans();
  auto const held = cached_plan(tn(16, 16, 16), with_workspace(), h200(), 0);
  for (std::size_t i = 1; i < most_cached_plans + 100; ++i)
    cached_plan(tn(16, 16, 16), with_workspace(), h200(), static_cast<int>(i));
  EXPECT_EQ(cached_plans(), 100U);
  EXPECT_EQ(held->problem.m, 16) << "a plan in use stays valid";
}

TEST(PlanCache, ThreadsAgree) {
  forget_plans();
  std::vector<std::thread> threads;
  std::vector<int> wrong(8);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 2000; ++i) {
        int const m = 1 + static_cast<int>(random() % 40);
        auto const plan = cached_plan(tn(m, 64, 64), with_workspace(), h200(), 0);
        if (plan->problem.m != m) ++wrong[t];
        if (i % 500 == 499) forget_plans();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(8));
  EXPECT_LE(cached_plans(), 40U);
}

}  // namespace
}  // namespace tw::test
