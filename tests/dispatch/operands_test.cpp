// SPDX-License-Identifier: Apache-2.0
// operands_test.cpp  Which addresses and which workspace a launch refuses.
#include <gtest/gtest.h>

#include "family/sm90_gemm/params.hpp"
#include "tests/dispatch/problems.hpp"

namespace tw::test {
namespace {

std::string refusal(gemm_problem const& p, gemm_operands const& o) {
  try {
    check_operands(p, o);
  } catch (rejected const& r) {
    return r.why().code;
  }
  return "";
}

TEST(Operands, MissingAndMisalignedAddressesAreRefused) {
  gemm_problem const p = tn(64, 32, 16);
  gemm_operands o = aligned();
  EXPECT_EQ(refusal(p, o), "");
  o.d = nullptr;
  EXPECT_EQ(refusal(p, o), "TW0408");
  gemm_problem biased = p;
  biased.epilogue.bias = along::cols;
  EXPECT_EQ(refusal(biased, aligned()), "TW0408");
  o = aligned();
  o.bias = reinterpret_cast<void*>(std::uintptr_t{0x1002});
  EXPECT_EQ(refusal(biased, o), "TW0409");
  biased.epilogue.bias_type = elem::f16;
  EXPECT_EQ(refusal(biased, o), "");
  o = aligned();
  o.a = reinterpret_cast<void*>(std::uintptr_t{0x1001});
  EXPECT_EQ(refusal(p, o), "TW0409");
}

TEST(Operands, TwoResultsAtOneAddressAreRefused) {
  gemm_problem p = tn(64, 32, 16);
  p.aux = p.d;
  gemm_operands o = aligned();
  EXPECT_EQ(refusal(p, o), "TW0408");
  o.aux = o.d;
  EXPECT_EQ(refusal(p, o), "TW0428");
  o.aux = reinterpret_cast<void*>(std::uintptr_t{0x9000});
  EXPECT_EQ(refusal(p, o), "");
}

TEST(Operands, APlanThatSharesTilesNeedsItsWorkspace) {
  gemm_problem const p = tn(600, 600, 16384);
  gemm_operands o = aligned();
  EXPECT_EQ(plan_gemm(p, o, h200()).schedule.shared_tiles, 0);  // no workspace
  o.workspace = reinterpret_cast<void*>(std::uintptr_t{0x1000});
  o.workspace_bytes = std::int64_t{64} << 20;
  gemm_plan const plan = plan_gemm(p, o, h200());
  ASSERT_GT(plan.schedule.shared_tiles, 0) << plan.why;
  ASSERT_LE(plan.workspace_bytes, o.workspace_bytes);
  EXPECT_NO_THROW(check_workspace(plan, o));
  auto const code = [&] {
    try {
      check_workspace(plan, o);
    } catch (rejected const& r) {
      return r.why().code;
    }
    return std::string();
  };
  o.workspace = reinterpret_cast<void*>(std::uintptr_t{0x1010});
  EXPECT_EQ(code(), "TW0410");  // misaligned
  o.workspace = reinterpret_cast<void*>(std::uintptr_t{0x1000});
  o.workspace_bytes = plan.workspace_bytes - 1;
  EXPECT_EQ(code(), "TW0410");  // too small
  gemm_plan const alone = plan_gemm(tn(8192, 8192, 64), gemm_operands{}, h200());
  try {
    check_workspace(alone, {.workspace_bytes = 1});
    FAIL() << "promised, not there";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0410");
    EXPECT_EQ(r.why().need.find("0 bytes at"), std::string::npos) << r.what();
    EXPECT_EQ(r.why().need.find("first"), std::string::npos) << r.what();
  }
}

}  // namespace
}  // namespace tw::test
