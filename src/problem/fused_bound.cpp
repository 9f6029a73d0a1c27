// SPDX-License-Identifier: Apache-2.0
// fused_bound.cpp  The formulas of fused_bound.hpp, step by step.
#include "tilewright/problem/fused_bound.hpp"

#include <cfloat>
#include <cmath>

namespace tw {

namespace {

constexpr double h = 0x1p-24;

/// An exact value, the error that float32 may make, and the largest magnitude on the way.
struct bounded {
  double value, error, largest;
};

bounded linear(exact_linear const& x, bound_terms const& t, double beta_c) {
  double const sum_error = t.sum_unit * x.t + t.sum_floor;
  double const scales = std::fabs(x.row_scale * x.col_scale);
  double const g = std::fabs(t.alpha) * scales;
  double const addends = std::fabs(x.bias) + std::fabs(beta_c);
  bounded b{};
  b.value = t.alpha * x.s * x.row_scale * x.col_scale + x.bias + beta_c;
  b.error = g * sum_error + 7 * h * (g * (std::fabs(x.s) + sum_error) + addends) +
            0x1p-124 * (2 + scales + std::fabs(x.col_scale));
  double const a = x.t + sum_error, after_alpha = std::fabs(t.alpha) * a;
  b.largest = std::fmax(std::fmax(a, after_alpha),
                        std::fmax(after_alpha * std::fabs(x.row_scale), g * a + addends));
  return b;
}

/// x s(v), with the bound of silu and gelu_tanh.
bounded times_sigmoid(bounded const& x, double v, double steepest) {
  double const s = 1 / (1 + std::exp(-v));
  double const y = x.value * s, size = std::fabs(y) + steepest * x.error;
  double const share = 1 / (1 + std::exp(v));
  double const rounding = size == 0 ? 0 : size * h * ((4 * std::fabs(v) + 4) * share + 5);
  return {y, steepest * x.error + rounding + 0x1p-125 * (std::fabs(x.value) + x.error), x.largest};
}

bounded activated(bounded const& x, activation act) {
  double const v = x.value;
  switch (act) {
    case activation::none: return x;
    case activation::relu: return {v < 0 ? 0 : v, x.error, x.largest};
    case activation::silu: return times_sigmoid(x, v, 1.1);
    case activation::gelu_tanh: {
      constexpr double twice = 1.5957691216057308;  // 2 sqrt(2 / pi)
      return times_sigmoid(x, twice * v * (1 + 0.044715 * v * v), 1.13);
    }
    case activation::gelu_erf: {
      double const y = 0.5 * v * std::erfc(-v * 0.70710678118654752);
      return {y, 1.13 * x.error + 0x1p-22 * (std::fabs(v) + x.error) + 0x1p-21 * std::fabs(y),
              x.largest};
    }
  }
  return x;
}

bounded gated(bounded const& a, bounded const& u) {
  double const size = (std::fabs(a.value) + a.error) * (std::fabs(u.value) + u.error);
  return {a.value * u.value,
          std::fabs(u.value) * a.error + std::fabs(a.value) * u.error + a.error * u.error +
              h * size + 0x1p-126,
          std::fmax(std::fmax(a.largest, u.largest), size)};
}

expected_element rounded(bounded const& y, bound_terms const& t) {
  expected_element r{};
  r.value = y.value;
  r.before_rounding = y.error;
  r.bound = y.error + t.out_unit * (std::fabs(y.value) + y.error) + t.out_floor;
  if (std::isfinite(y.value) && !(y.largest < FLT_MAX)) r.bound = HUGE_VAL;
  return r;
}

}  // namespace

fused_terms make_fused_terms(gemm_problem const& p) {
  return {make_bound_terms(p.k, p.alpha, p.beta, p.d.type), p.epilogue};
}

expected_element expect_fused(exact_fused const& x, fused_terms const& t) {
  gemm_epilogue const& e = t.epilogue;
  if (!is_fused(e)) return expect_element({x.x.s, x.x.t, x.c}, t.out);
  double const beta_c = t.out.beta == 0.0 ? 0.0 : t.out.beta * x.c;
  bounded y = activated(linear(x.x, t.out, e.c_last ? 0 : beta_c), e.act);
  if (e.gate != gating::none) y = gated(y, linear(x.up, t.out, 0));
  if (e.c_last) {
    y.error += 2 * h * (std::fabs(y.value) + y.error + std::fabs(beta_c));
    y.value += beta_c;
    y.largest = std::fmax(y.largest, std::fabs(y.value) + y.error);
  }
  return rounded(y, t.out);
}

expected_element expect_aux(exact_linear const& x, double c, fused_terms const& t) {
  double const beta_c = t.out.beta == 0.0 || t.epilogue.c_last ? 0.0 : t.out.beta * c;
  return rounded(linear(x, t.out, beta_c), t.out);
}

}  // namespace tw
