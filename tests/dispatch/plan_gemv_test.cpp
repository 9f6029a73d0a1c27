// SPDX-License-Identifier: Apache-2.0
// plan_gemv_test.cpp  Plans of GEMV kernels: when they are taken, and the operands that they need.
#include <gtest/gtest.h>

#include "dispatch/tuning/winners.hpp"
#include "family/gemv/config_of.hpp"
#include "tests/dispatch/problems.hpp"

namespace tw::test {
namespace {

using gemv_family::is_gemv;

TEST(Plan, SmallMTakesAGemv) {
  gemm_plan const one = best_plan(tn(1, 4100, 4096), aligned(), h200());
  ASSERT_TRUE(is_gemv(one)) << one.kernel;
  EXPECT_FALSE(gemv_family::config_of(one).by_mma()) << one.kernel;
  EXPECT_TRUE(one.swapped);
  EXPECT_EQ(one.schedule.clusters, 528);
  EXPECT_EQ(one.workspace_bytes, 0);
  EXPECT_NEAR(one.predicted_us, 9.7, 0.6);  // 9.9 as measured with 4096 (docs/decisions/0014)
  EXPECT_NE(one.why.find("1025 groups of 4 rows on 528 CTAs"), std::string::npos) << one.why;
  EXPECT_EQ(one.why.find("bands"), std::string::npos) << one.why;
  EXPECT_EQ(one.terms.waves, 2);
  // 56.5 as measured with 28672 (docs/decisions/0042)
  EXPECT_NEAR(best_plan(tn(1, 28680, 4096), aligned(), h200()).predicted_us, 55.8, 2.5);
  EXPECT_NEAR(best_plan(tn(2, 5120, 8192), aligned(), h200()).predicted_us, 21.9, 2.2);
  for (int const rows : {2, 4, 8}) {
    EXPECT_TRUE(is_gemv(best_plan(tn(rows, 5120, 8192), aligned(), h200()))) << rows;
    EXPECT_TRUE(is_gemv(best_plan(tn(rows, 2000, 4096), aligned(), h200()))) << rows;
    gemm_plan const columns = best_plan(tn(5120, rows, 8192), aligned(), h200());
    EXPECT_TRUE(is_gemv(columns) && !columns.swapped) << columns.kernel;
  }
  EXPECT_FALSE(is_gemv(best_plan(tn(9, 5120, 8192), aligned(), h200())));
}

TEST(Plan, ATurnOfAGemvCostsAsMuchWhereKIsShort) {
  // One of 4x1 covers 4096 elements of K: 14.5 us as measured, where 16x8 takes 9.9.
  std::vector<gemm_plan> const plans =
      plan_candidates(tn(1, 8200, 2048), aligned(), h200(), kernel_set::all);
  auto const half = std::ranges::find_if(plans, [](gemm_plan const& x) { return is_gemv(x); });
  ASSERT_NE(half, plans.end());
  EXPECT_TRUE(gemv_family::config_of(*half).by_mma()) << half->kernel;
}

TEST(Plan, AGemvTakesWhatItCanLoad) {
  auto const gemvs = [](gemm_problem const& p, gemm_operands const& o) {
    int n = 0;
    for (gemm_plan const& x : plan_candidates(p, o, h200(), kernel_set::all)) n += is_gemv(x);
    return n;
  };
  gemm_problem const p = tn(2, 4096, 4096);
  EXPECT_EQ(gemvs(p, aligned()), 4);
  gemm_problem q = p;
  q.b = {elem::bf16, order::row_major, q.n};  // weights that are not K-major
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.a = {elem::bf16, order::col_major, q.m};
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.k = 4092;
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.b.pitch_elems = 4100;
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.epilogue.act = activation::relu;
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.d.type = elem::f16;
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.d = {elem::f32, order::col_major, 3};  // no order or pitch of D matters
  EXPECT_EQ(gemvs(q, aligned()), 4);
  gemm_operands o = aligned();
  o.d = static_cast<char*>(o.d) + 2;
  EXPECT_EQ(gemvs(p, o), 4);
  o = aligned(), o.b = static_cast<char const*>(o.b) + 2;
  EXPECT_EQ(gemvs(p, o), 0);
  q = batch_of(tn(2, 512, 64), 3);
  EXPECT_EQ(gemvs(q, aligned()), 4);
  q.a.batch_stride_elems = q.b.batch_stride_elems = q.d.batch_stride_elems =
      matrix_desc::by_pointers;
  EXPECT_EQ(gemvs(q, aligned()), 0);
}

TEST(Plan, AGemvIsLaunchedWithTheAlignmentItWasPlannedFor) {
  std::vector<std::uint16_t> memory(2 * (8 * 64 + 8));
  auto* const begin =
      memory.data() + (16 - reinterpret_cast<std::uintptr_t>(memory.data()) % 16) / 2;
  gemm_operands o{begin, begin, nullptr, begin + 8 * 64 + 8};
  std::vector<gemm_plan> const plans = plan_candidates(tn(1, 8, 64), o, h200(2));
  auto const first = std::find_if(plans.begin(), plans.end(),
                                  [](gemm_plan const& x) { return is_gemv(x) && x.swapped; });
  ASSERT_NE(first, plans.end());
  gemm_plan plan = *first;
  o.b = begin + 1;
  try {
    gemm_emulated(plan, o);
    ADD_FAILURE() << "accepted";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0409");
    EXPECT_EQ(r.why().what, "address of B");
  }
  plan.instance = -1;
  try {
    gemm_emulated(plan, {begin, begin, nullptr, begin});
    ADD_FAILURE() << "accepted";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0505");
  }
}

}  // namespace
}  // namespace tw::test
