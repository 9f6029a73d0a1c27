// SPDX-License-Identifier: Apache-2.0
// alpha_zero_emu_test.cpp  With alpha = 0, A B does not take part, as in BLAS: whatever A and B
//                          hold, D is beta C, or the epilogue of 0, in every kernel.
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"
#include "tests/kernel/gemv_cases.hpp"

namespace tw::test {
namespace {

/// Puts NaNs, infinities and numbers whose sum overflows instead of a third of the elements.
void spoil(matrix& m, std::mt19937_64& rng) {
  float const bad[] = {NAN, INFINITY, -INFINITY, 3e38F};
  for (std::int64_t b = 0; b < m.matrices; ++b)
    for (std::int64_t r = 0; r < m.rows; ++r)
      for (std::int64_t c = 0; c < m.cols; ++c)
        if (rng() % 3 == 0) {
          std::int64_t const of = m.addresses.empty() ? b : m.matrices - 1 - b;
          m.store(r, c, of, bad[rng() % 4]);
        }
}

/// Each element of D within a rounding of beta * C.
void expect_scaled_c(product& p, std::string const& kernel) {
  double const unit = p.d.desc.type == elem::bf16  ? 0x1p-8
                      : p.d.desc.type == elem::f16 ? 0x1p-11
                                                   : 0x1p-24;
  for (std::int64_t of = 0; of < p.problem.batch; ++of)
    for (std::int64_t r = 0; r < p.problem.m; ++r)
      for (std::int64_t c = 0; c < p.problem.n; ++c) {
        double const beta = static_cast<double>(p.problem.beta);
        double const want = p.problem.c ? beta * p.c.load(r, c, of) : 0;
        double const got = p.d.load(r, c, of);
        ASSERT_LE(std::fabs(got - want), 1.01 * unit * std::fabs(want) + 0x1p-25)
            << kernel << ", D(" << r << "," << c << ") of " << p.text();
      }
  expect_nothing_else_written(p, p.d);
}

void run_every_plan(product& p, emu_workspace& space, std::mt19937_64& rng,
                    std::set<std::string>& kernels) {
  p.problem.alpha = rng() % 2 == 0 ? 0.0F : -0.0F;
  spoil(p.a, rng);
  spoil(p.b, rng);
  gemm_operands o = p.operands();
  space.give(o);
  for (gemm_plan const& plan : built_plans(p.problem, o, 8)) {
    emu_options options;
    options.seed = rng();
    options.sms = 8;
    emulate(plan, o, options);
    kernels.insert(plan.kernel);
    expect_scaled_c(p, plan.kernel);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AlphaZeroEmu, IsBetaCInEveryKernel) {
  std::mt19937_64 rng(11);
  emu_workspace space;
  std::set<std::string> kernels;
  for (int i = 0; i < sample(24, 8) && !HasFailure(); ++i) {
    product p =
        i % 4 == 0 ? random_few(rng, 60, 400) : random_product(rng, 150, i % 3 == 0 ? 3 : 1);
    run_every_plan(p, space, rng, kernels);
  }
  EXPECT_GE(kernels.size(), 10U);
}

TEST(AlphaZeroEmu, IsTheEpilogueOfZeroInEveryFusedKernel) {
  std::mt19937_64 rng(12);
  emu_workspace space;
  std::set<std::string> kernels;
  for (int i = 0; runs_case(i, 30, kernels.size() >= 4) && !HasFailure(); ++i) {
    fused_product p = random_fused(rng, 150);
    p.problem.alpha = 0;
    spoil(p.a, rng);
    spoil(p.b, rng);
    gemm_operands o = p.operands();
    space.give(o);
    for (gemm_plan const& plan : built_plans(p.problem, o, 8)) {
      emulate(plan, o);
      kernels.insert(plan.kernel);
      expect_fused_right(p);
      if (HasFailure()) FAIL() << plan.kernel;
    }
  }
  EXPECT_GE(kernels.size(), 4U);
}

}  // namespace
}  // namespace tw::test
