// SPDX-License-Identifier: Apache-2.0
// gemm_emu_test.cpp  Every kernel in the emulator against float64, over random shapes and seeds.
#include "tests/kernel/gemm_cases.hpp"

namespace tw::test {
namespace {

class GemmEmu : public testing::TestWithParam<async_policy> {};

TEST_P(GemmEmu, RandomProductsKeepTheBound) {
  std::mt19937_64 rng(20261120 + static_cast<int>(GetParam()));
  for (int i = 0; i < 80; ++i) {
    product p = random_product(rng, i % 4 == 0 ? 700 : i % 4 == 1 ? 64 : 300);
    emu_options o;
    o.policy = GetParam();
    o.seed = rng();
    o.random_warps = i % 2 != 0;
    o.sms = 2 + 2 * (i % 3);
    gemm_emulated(p.problem, p.operands(), o);
    expect_right(p);
    if (HasFatalFailure()) {
      ADD_FAILURE() << "case " << i << ", emulator seed " << o.seed;
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, GemmEmu,
                         testing::Values(async_policy::eager, async_policy::lazy,
                                         async_policy::random),
                         [](auto const& i) {
                           return i.param == async_policy::eager  ? "eager"
                                  : i.param == async_policy::lazy ? "lazy"
                                                                  : "random";
                         });

}  // namespace
}  // namespace tw::test
