// SPDX-License-Identifier: Apache-2.0
// gemv_emu_test.cpp  Every GEMV kernel in the emulator against float64: GEMMs with up to 16 rows
//                    or columns, random in all else that the kernels take.
#include "tests/effort.hpp"
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"
#include "tests/kernel/gemv_cases.hpp"

#include <map>
#include <set>

namespace tw::test {
namespace {

TEST(GemvEmu, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261122);
  std::set<std::string> kernels;
  for (int i = 0; runs_case(i, 320, kernels.size() == built_gemvs()) && !HasFailure(); ++i) {
    product p = i % 4 == 0 ? random_few(rng, 40, 9000) : random_few(rng, 200, 1500);
    emu_options o;
    o.seed = rng();
    o.random_warps = i % 2 != 0;
    o.policy = static_cast<async_policy>(i % 3);
    o.sms = 1 + i % 5;
    std::vector<gemm_plan> const plans = gemv_plans(p, o.sms);
    if (plans.empty()) {  // the batch is one GEMM of more rows, or this build lacks the kernel
      ASSERT_TRUE(p.problem.batch > 1 || kernels_of_this_build().name != "full") << p.text();
      continue;
    }
    gemm_plan const& plan = plans[rng() % plans.size()];
    emulate(plan, p.operands(), o);
    expect_right(p);
    EXPECT_TRUE(plan.built) << plan.kernel;
    kernels.insert(plan.kernel);
    if (HasFailure())
      ADD_FAILURE() << "case " << i << ", emulator seed " << o.seed << ", " << plan.kernel << ", "
                    << plan.why;
  }
  EXPECT_EQ(kernels.size(), built_gemvs());
}

TEST(GemvEmu, ScalesOfRowsAndColumns) {
  std::mt19937_64 rng(31);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  std::set<std::string> kernels;
  for (int i = 0; runs_case(i, 60, kernels.size() == built_gemvs()) && !HasFailure(); ++i) {
    fused_product p;
    static_cast<product&>(p) = random_few(rng, 60, 600);
    gemm_problem& q = p.problem;
    if (q.batch > 1) continue;
    q.epilogue.row_scale = i % 3 != 0 ? along::rows : along::none,
    q.epilogue.col_scale = i % 3 != 1 ? along::cols : along::none;
    q.epilogue.row_scale.one = q.epilogue.row_scale && i % 4 == 0;
    q.epilogue.col_scale.one = q.epilogue.col_scale && i % 5 == 0;
    if (q.epilogue.row_scale)
      p.row_scale = make_matrix(elem::f32, order::row_major, 1, q.m, 0, fill);
    if (q.epilogue.col_scale)
      p.col_scale = make_matrix(elem::f32, order::row_major, 1, q.n, 0, fill);
    device const dev = with_sm_count(known_device("h200"), 2);
    std::vector<gemm_plan> plans = plan_candidates(q, p.operands(), dev, kernel_set::all);
    std::erase_if(plans, [](gemm_plan const& x) { return x.family->id() != "gemv" || !x.built; });
    for (gemm_plan const& plan : plans) {
      emulate(plan, p.operands());
      expect_fused_right(p);
      if (HasFailure()) ADD_FAILURE() << "case " << i << ", " << plan.kernel;
      kernels.insert(plan.kernel);
    }
  }
  EXPECT_EQ(kernels.size(), built_gemvs());
}

TEST(GemvEmu, TheSameBitsOnAnyNumberOfCTAs) {
  std::mt19937_64 rng(7);
  for (int i = 0; i < sample(12, 4); ++i) {
    product p = random_few(rng, 60, 4000);
    std::map<std::string, std::vector<std::byte>> results;  // by plan
    for (int const sms : {1, 3, 16})
      for (gemm_plan const& plan : gemv_plans(p, sms)) {
        emu_options o;
        o.seed = rng();
        o.random_warps = true;
        emulate(plan, p.operands(), o);
        auto const [first, is_new] =
            results.try_emplace(plan.kernel + (plan.swapped ? " transposed" : ""), p.d.bytes);
        EXPECT_EQ(p.d.bytes, first->second) << plan.kernel << " " << p.text();
      }
  }
}

TEST(GemvEmu, NanBeyondTheMatricesChangesNothing) {
  std::mt19937_64 rng(8);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  // Three columns of eight, five rows of sixteen, K that ends inside a step: poison follows.
  product p;
  p.a = make_matrix(elem::bf16, order::row_major, 5, 40, 24, fill);
  p.b = make_matrix(elem::bf16, order::col_major, 40, 3, 24, fill);
  p.d = make_matrix(elem::f32, order::row_major, 5, 3, 1, nullptr);
  p.problem = {5, 3, 40, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  for (gemm_plan const& plan : gemv_plans(p, 2)) {
    emulate(plan, p.operands());
    expect_right(p);
  }
}

}  // namespace
}  // namespace tw::test
