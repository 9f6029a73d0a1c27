// SPDX-License-Identifier: Apache-2.0
// epilogue_example_test.cpp  The example of docs/epilogues.md, computed.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace {

constexpr std::int64_t m = 24, n = 64, k = 40;

TEST(EpilogueExample, SwigluWithABias) {
  std::vector<tw::bf16> a(m * k, tw::to_bf16(0.5F));     // (m, k)
  std::vector<tw::bf16> b(k * n, tw::to_bf16(0.125F));   // (k, n) column-major: weights (n, k)
  std::vector<tw::bf16> bias(n, tw::to_bf16(-1.0F));     // one per column of gate and up
  std::vector<tw::bf16> d(m * (n / 2), tw::to_bf16(0));  // (m, n / 2)

  tw::gemm_problem p{.m = m,
                     .n = n,  // gate and up columns together
                     .k = k,
                     .a = {tw::elem::bf16, tw::order::row_major, k},
                     .b = {tw::elem::bf16, tw::order::col_major, k},
                     .d = {tw::elem::bf16, tw::order::row_major, n / 2},
                     .c = std::nullopt};  // no residual
  p.epilogue.bias = {tw::along::cols, tw::elem::bf16};
  p.epilogue.act = tw::activation::silu;
  p.epilogue.gate = tw::gating::split;
  tw::gemm_emulated(p, {.a = a.data(), .b = b.data(), .d = d.data(), .bias = bias.data()});

  double const x = k * 0.5 * 0.125 - 1;  // 1.5
  EXPECT_NEAR(tw::to_float(d[5]), x / (1 + std::exp(-x)) * x, 0.01);
}

}  // namespace
