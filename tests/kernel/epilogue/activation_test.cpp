// SPDX-License-Identifier: Apache-2.0
// activation_test.cpp  Activations as kernels compute them, over floats of all exponents,
//                      against float64 and the bound of problem/fused_bound.hpp.
#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>

#include "tests/problem/activation_formulas.hpp"
#include "tilewright/kernel/sm90/epilogue/ops.hpp"
#include "tilewright/problem/fused_bound.hpp"

namespace tw::test {
namespace {

/// Act(x) exactly, and what a kernel may be off by before D is rounded: the sum itself is exact.
expected_element expected(activation act, float x) {
  gemm_problem p;
  p.k = 1;
  p.d.type = elem::f32;
  p.epilogue.act = act;
  exact_fused e;
  e.x.s = static_cast<double>(x);
  return expect_fused(e, make_fused_terms(p));
}

/// By the code that kernels run.
float computed(activation act, float x) {
  float y = 0;
  with_activation<true>(act, [&](auto apply) { y = apply(x); });
  return y;
}

/// Every 4099th float, about 1.05 million, 2000 of each exponent; infinities, NaNs, the largest.
template <class Look>
void for_floats(Look look) {
  for (std::uint32_t bits = 0; bits < 0xFFFFF000U; bits += 4099) look(std::bit_cast<float>(bits));
  for (float const x : {FLT_MAX, -FLT_MAX, FLT_MIN, -FLT_MIN, INFINITY, -INFINITY, NAN}) look(x);
}

class Activation : public testing::TestWithParam<activation> {};

TEST_P(Activation, KeepsItsBoundForAllFiniteNumbers) {
  int wrong = 0;
  for_floats([&](float x) {
    if (!std::isfinite(x)) return;
    expected_element const want = expected(GetParam(), x);
    double const got = computed(GetParam(), x);
    double const bound = std::isinf(want.bound) ? want.before_rounding : want.bound;
    if (!(std::fabs(got - want.value) <= bound) && ++wrong < 5)
      ADD_FAILURE() << "x = " << x << ": " << got << ", want " << want.value << " within " << bound;
  });
  EXPECT_EQ(wrong, 0);
}

/// Its bound is relative to x there: x or 0 where its sigmoid is 1 or 0.
TEST_P(Activation, IsItsFormulaFarFromZero) {
  activation const act = GetParam();
  for_floats([&](float x) {
    if (std::isinf(x) || !(std::fabs(x) >= 256)) return;
    auto const want = static_cast<float>(formula_of(act, static_cast<double>(x)));
    EXPECT_LE(std::fabs(computed(act, x) - want), 0x1p-22F * std::fabs(want));
    if (HasFailure()) FAIL() << x;
  });
}

TEST_P(Activation, TreatsInfinitiesAndNansAsPyTorchDoes) {
  activation const act = GetParam();
  for (float const x : {INFINITY, -INFINITY, NAN}) {
    double const want = formula_of(act, static_cast<double>(x));
    float const got = computed(act, x);
    EXPECT_TRUE(std::isnan(want) ? std::isnan(got)
                                 : std::fabs(got - want) <= 0x1p-22 * std::fabs(want) ||
                                       got == static_cast<float>(want))
        << x << ": " << got << ", want " << want;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Activation, testing::ValuesIn(all_registered_activations()),
                         [](auto const& i) { return "activation_" + std::to_string(i.index); });

/// The SwiGLU of gpt-oss: min(g, 7) sigmoid(1.702 min(g, 7)) (clamp(u, -7, 7) + 1).
TEST(ClampedQuickGelu, ClampsGateAndUpAndAddsOne) {
  auto const of = [](float gate, float up) {
    float y = 0;
    with_activation<true>(activation::clamped_quick_gelu,
                          [&](auto act) { y = act(gate) * act.up(up); });
    return static_cast<double>(y);
  };
  auto const want = [](double z, double u) { return z / (1 + std::exp(-1.702 * z)) * u; };
  EXPECT_NEAR(of(2, 3), want(2, 4), 1e-5);
  EXPECT_NEAR(of(7, 7), want(7, 8), 1e-5);
  EXPECT_EQ(of(100, 3), of(7, 3));
  EXPECT_EQ(of(INFINITY, 3), of(7, 3));
  EXPECT_NEAR(of(-100, 3), 0, 1e-30);  // the gate has no lower limit
  EXPECT_EQ(of(2, 9), of(2, 7));
  EXPECT_EQ(of(2, -9), of(2, -7));
  EXPECT_EQ(of(2, -INFINITY), of(2, -7));
  EXPECT_EQ(of(2, -1), 0);
  EXPECT_TRUE(std::isnan(of(NAN, 1)));
  EXPECT_TRUE(std::isnan(of(1, NAN)));
  for (activation const act : all_registered_activations())
    if (act != activation::clamped_quick_gelu)
      with_activation<true>(act, [&](auto code) { EXPECT_EQ(code.up(-9), -9); });
}

TEST(GeluErf, ErrsByLessThanTheDocumentedShareOfX) {
  double worst = 0;
  for_floats([&](float x) {
    if (!std::isfinite(x) || std::fabs(x) < 1e-30F) return;
    double const v = x, exact = 0.5 * v * std::erfc(-v / std::sqrt(2.0));
    worst =
        std::fmax(worst, std::fabs(static_cast<double>(computed(activation::gelu_erf, x)) - exact) /
                             std::fabs(v));
  });
  EXPECT_LT(worst, 0x1p-22);
  EXPECT_GT(worst, 0x1p-26);  // something was measured
}

TEST(ExpectFused, FollowsTheFormula) {
  gemm_problem p;
  p.k = 1;
  p.d.type = elem::f32;
  p.alpha = 2;
  p.beta = 0.5F;
  p.epilogue.act = activation::silu;
  p.epilogue.gate = gating::split;
  p.epilogue.c_last = true;
  exact_fused e;
  e.x = {1, 1, 3, 0.25, 0.5};  // x = 2 * 1 * 3 * 0.25 + 0.5 = 2
  e.up = {-1, 1, 3, 0.5, 0};   // -3
  e.c = 8;
  double const want = 2 / (1 + std::exp(-2.0)) * -3 + 4;
  EXPECT_NEAR(expect_fused(e, make_fused_terms(p)).value, want, 1e-14);
  p.epilogue.act = activation::clamped_quick_gelu;
  EXPECT_NEAR(expect_fused(e, make_fused_terms(p)).value,
              2 / (1 + std::exp(-1.702 * 2)) * (-3 + 1) + 4, 1e-14);
  e.x.bias = 100, e.up.s = -3;  // x = 101.5, up = -9
  EXPECT_NEAR(expect_fused(e, make_fused_terms(p)).value,
              7 / (1 + std::exp(-1.702 * 7)) * (-7 + 1) + 4, 1e-13);
}

}  // namespace
}  // namespace tw::test
