// SPDX-License-Identifier: Apache-2.0
// fused_bound.cpp  The formulas of fused_bound.hpp, step by step.
#include "tilewright/problem/fused_bound.hpp"

#include <cmath>

#include "problem/element_outcomes.hpp"

namespace tw {

namespace {

constexpr double h = 0x1p-24;

outcomes linear(exact_linear const& x, fused_terms const& t) {
  outcomes y = times(known(t.out.alpha), accumulated({x.s, x.t, 0}, t.out));
  if (x.row_scale != 1) y = times(y, known(x.row_scale));
  if (x.col_scale != 1) y = times(y, known(x.col_scale));
  if (x.bias != 0) y = plus(y, known(x.bias));
  return y;
}

outcomes add_c(outcomes const& x, double c, fused_terms const& t) {
  if (t.out.beta == 0.0) return x;
  return plus(x, times(known(t.out.beta), known(c)));
}

/// x s(v), with the bound of silu and gelu_tanh.
double sigmoid_error(outcomes const& x, double y, double v, double steepest) {
  double const size = std::fabs(y) + steepest * x.error;
  double const share = 1 / (1 + std::exp(v));
  double const rounding =
      size == 0 || share == 0 ? 5 * h * size : size * h * ((4 * std::fabs(v) + 4) * share + 5);
  return steepest * x.error + rounding + 0x1p-125 * x.magnitude();
}

/// The smooth activations: x times a number in [0, 1], which is NaN for x = -inf.
outcomes smooth(outcomes const& x, activation act) {
  outcomes y = x;
  y.nan = y.nan || x.minus_inf;
  y.minus_inf = false;
  if (x.value == -HUGE_VAL) y.value = NAN;
  if (!std::isfinite(x.value)) return y;
  double v = x.value;
  if (act == activation::gelu_erf) {
    y.value = 0.5 * v * std::erfc(-v * 0.70710678118654752);
    y.error = 1.13 * x.error + 0x1p-22 * x.magnitude() + 0x1p-21 * std::fabs(y.value);
    return y;
  }
  constexpr double twice = 1.5957691216057308;  // 2 sqrt(2 / pi)
  if (act == activation::gelu_tanh) v = twice * v * (1 + 0.044715 * v * v);
  y.value = x.value / (1 + std::exp(-v));
  y.error = sigmoid_error(x, y.value, v, act == activation::silu ? 1.1 : 1.13);
  return y;
}

outcomes activated(outcomes x, activation act) {
  x = in_register(x);
  if (act == activation::none) return x;
  if (act != activation::relu) return smooth(x, act);
  x.far = x.far || (x.minus_inf && x.value != -HUGE_VAL);  // -inf becomes 0
  x.minus_inf = false;
  if (x.value < 0) {
    x.error = std::isfinite(x.value) ? x.error : 0;
    x.value = 0;
  }
  return x;
}

}  // namespace

fused_terms make_fused_terms(gemm_problem const& p) {
  return {make_bound_terms(p.k, p.alpha, p.beta, p.d.type), p.epilogue};
}

expected_element expect_fused(exact_fused const& x, fused_terms const& t) {
  gemm_epilogue const& e = t.epilogue;
  if (!is_fused(e)) return expect_element({x.x.s, x.x.t, x.c}, t.out);
  outcomes x_all = linear(x.x, t);
  if (!e.c_last) x_all = add_c(x_all, x.c, t);
  outcomes y = activated(x_all, e.act);
  if (e.gate != gating::none) y = in_register(times(y, in_register(linear(x.up, t))));
  if (e.c_last) y = add_c(y, x.c, t);
  return rounded_to_output(y, t.out);
}

expected_element expect_aux(exact_linear const& x, double c, fused_terms const& t) {
  outcomes const before = linear(x, t);
  return rounded_to_output(t.epilogue.c_last ? before : add_c(before, c, t), t.out);
}

}  // namespace tw
