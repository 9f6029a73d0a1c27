// SPDX-License-Identifier: Apache-2.0
// explain_kernel_test.cpp  The kernels whose registers explain shows, in the emulator;
//                          tests/gpu/explain_kernels.cu runs them on a GPU.
#include <gtest/gtest.h>

#include "tests/arch/kernels/emulated.hpp"
#include "tests/golden/registers_checks.hpp"

namespace {

using namespace tw_test;

TEST(ExplainKernels, ComputeD) {
  for (auto const& check : writing_checks<tw::test::emulated>()) {
    tw::test::emulated machine(tw::emu::options{});
    EXPECT_EQ(check.run(machine), "") << check.name;
  }
}

/// Addresses from the row and the column, or a swizzle at each store.
TEST(ExplainKernels, OtherWaysToTheAddress) {
  using enum writer;
  using enum address;
  using tw::swizzle_mode;
  tw::test::emulated machine(tw::emu::options{});
  EXPECT_EQ((check_product<writing{96, swizzle_mode::b128, stmatrix4, coordinates}>(machine)), "");
  EXPECT_EQ((check_product<writing{96, swizzle_mode::b64, st16, swizzled}>(machine)), "");
}

}  // namespace
