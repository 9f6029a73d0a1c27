// SPDX-License-Identifier: Apache-2.0
// typed_emu_test.cpp  GEMMs of 8-bit floats, 8-bit integers and tf32 in the emulator, with its
//                     checks of hazards, against float64.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/effort.hpp"
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/typed_cases.hpp"

namespace tw::test {
namespace {

class TypedEmu : public testing::TestWithParam<types> {};

/// Any plan of the build for any problem of these types.
TEST_P(TypedEmu, RandomProblemsKeepTheBound) {
  types const t = GetParam();
  std::mt19937_64 rng(20261125 + 64 * static_cast<int>(t.a) + 8 * static_cast<int>(t.b) +
                      static_cast<int>(t.d));
  emu_workspace space;
  std::set<std::string> kernels;
  int copied = 0;
  for (int i = 0; runs_case(i, 12, i > 2 && copied > 0) && !HasFailure(); ++i) {
    typed_product p = random_typed(rng, t, i % 3 == 0 ? 400 : 150);
    emu_options o;
    o.policy = static_cast<async_policy>(i % 3);
    o.seed = rng();
    o.random_warps = i % 2 != 0;
    o.exact_sums = i % 4 == 3;
    o.sms = 2 + 2 * (i % 4);
    gemm_operands operands = p.operands();
    space.give(operands);
    std::vector<gemm_plan> const plans = built_plans(p.problem, operands, o.sms);
    ASSERT_FALSE(plans.empty()) << p.text();
    gemm_plan const& plan = plans[rng() % plans.size()];
    copied += plan.repitch.a || plan.repitch.b;
    kernels.insert(plan.kernel);
    emulate(plan, operands, o);
    expect_right(p);
    if (HasFailure())
      ADD_FAILURE() << "case " << i << ", emulator seed " << o.seed << ", " << plan.kernel << ", "
                    << plan.why;
  }
  EXPECT_GT(kernels.size(), 0U);
  EXPECT_GT(copied, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, TypedEmu, testing::ValuesIn(all_types()),
                         [](auto const& i) { return text_of(i.param); });

}  // namespace
}  // namespace tw::test
