// SPDX-License-Identifier: Apache-2.0
// no_inner_emu_test.cpp  With K = 0, D is the epilogue of beta C in every kernel, and A and B are
//                        not read: they may have no address.
#include <set>

#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"
#include "tests/kernel/gemv_cases.hpp"

namespace tw::test {
namespace {

/// Runs every plan of the problem with K = 0; `expect` compares with a reference of zeros.
template <class Product, class Expect>
void run_without_inner(Product& p, emu_workspace& space, std::set<std::string>& kernels,
                       Expect expect) {
  std::int64_t const k = p.problem.k;
  std::ranges::fill(p.a.value, 0.0);
  gemm_operands o = p.operands();
  o.a = o.b = nullptr, o.a_array = o.b_array = nullptr;
  space.give(o);
  p.problem.k = 0;
  std::vector<gemm_plan> const plans = built_plans(p.problem, o, 8);
  for (gemm_plan const& plan : plans) {
    p.problem.k = 0;
    EXPECT_EQ(plan.problem.k, 0);
    emulate(plan, o);
    kernels.insert(plan.kernel);
    p.problem.k = k;  // of the reference, whose A is zero
    expect(p);
    if (testing::Test::HasFailure()) FAIL() << plan.kernel << ", K = 0: " << p.text();
  }
}

TEST(NoInnerEmu, IsBetaCInEveryKernel) {
  std::mt19937_64 rng(21);
  emu_workspace space;
  std::set<std::string> kernels;
  for (int i = 0; i < 16 && !HasFailure(); ++i) {
    product p =
        i % 4 == 0 ? random_few(rng, 60, 400) : random_product(rng, 150, i % 3 == 0 ? 3 : 1);
    run_without_inner(p, space, kernels, [](product& x) { expect_right(x); });
  }
  EXPECT_GE(kernels.size(), 10U);
}

TEST(NoInnerEmu, IsTheEpilogueOfZeroInEveryFusedKernel) {
  std::mt19937_64 rng(22);
  emu_workspace space;
  std::set<std::string> kernels;
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    fused_product p = random_fused(rng, 150);
    run_without_inner(p, space, kernels, [](fused_product& x) { expect_fused_right(x); });
  }
  EXPECT_GE(kernels.size(), 4U);
}

TEST(NoInnerEmu, TheInterfaceTakesWhatBlasTakes) {
  float c[6] = {1, 2, 3, 4, 5, 6}, d[6];
  gemm_problem p;
  p.m = 2, p.n = 3, p.k = 0;
  p.a = {elem::bf16, order::row_major, 0};
  p.b = {elem::bf16, order::row_major, 3};
  p.d = {elem::f32, order::row_major, 3};
  gemm_emulated(p, {nullptr, nullptr, nullptr, d});
  for (float x : d) EXPECT_EQ(x, 0.0F);
  p.c = p.d;
  p.beta = 2;
  gemm_emulated(p, {nullptr, nullptr, c, d});
  for (int i = 0; i < 6; ++i) EXPECT_EQ(d[i], 2 * c[i]);
  gemm_emulated(p, {nullptr, nullptr, c, c});  // in place
  for (int i = 0; i < 6; ++i) EXPECT_EQ(c[i], d[i]);
  EXPECT_GE(gemm_workspace_bytes(p, {}), gemm_workspace_zeros);
  for (std::int64_t gemm_problem::*extent :
       {&gemm_problem::m, &gemm_problem::n, &gemm_problem::batch}) {
    gemm_problem none = p;
    none.*extent = 0;
    EXPECT_NO_THROW(gemm_emulated(none, {}));  // nothing to do, nothing to read or write
  }
}

}  // namespace
}  // namespace tw::test
