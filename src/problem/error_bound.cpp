// SPDX-License-Identifier: Apache-2.0
// error_bound.cpp  The formulas of error_bound.hpp, step by step.
#include "tilewright/problem/error_bound.hpp"

#include <cfloat>
#include <cmath>

namespace tw {

bound_terms make_bound_terms(std::int64_t k, float alpha, float beta, elem d) {
  double const n = static_cast<double>(k);
  bound_terms t{};
  t.alpha = alpha;
  t.beta = beta;
  t.sum_unit = std::expm1(n * std::log1p(0x1p-22)) + n * 0x1p-52;
  t.sum_floor = n * 0x1p-126;
  t.out_unit = d == elem::bf16 ? 0x1p-8 : d == elem::f16 ? 0x1p-11 : 0.0;
  t.out_floor = d == elem::bf16 ? 0x1p-134 : d == elem::f16 ? 0x1p-25 : 0.0;
  t.out_overflow = d == elem::f16 ? 65520.0 : d == elem::bf16 ? 0x1.FFp127 : 0x1.FFFFFFp127;
  return t;
}

expected_element expect_element(exact_sum const& x, bound_terms const& t) {
  double const sum_error = t.sum_unit * x.t + t.sum_floor;
  double const product = std::fabs(t.alpha) * (std::fabs(x.s) + sum_error);
  double const addend = std::fabs(t.beta * x.c);
  expected_element e{};
  e.value = t.alpha * x.s + (t.beta == 0.0 ? 0.0 : t.beta * x.c);
  e.before_rounding =
      std::fabs(t.alpha) * sum_error + (0x1p-23 + 0x1p-48) * (product + addend) + 0x1p-124;
  e.bound = e.before_rounding + t.out_unit * (std::fabs(e.value) + e.before_rounding) + t.out_floor;
  bool const exact_is_finite = std::isfinite(e.value) && std::isfinite(x.t);
  double const largest =
      std::fmax(x.t + sum_error, std::fabs(t.alpha) * (x.t + sum_error) + addend);
  if (exact_is_finite && !(largest < FLT_MAX)) e.bound = HUGE_VAL;
  return e;
}

verdict judge(double d, expected_element const& e, bound_terms const& t) {
  if (std::isnan(e.value)) return std::isnan(d) ? verdict::right : verdict::wrong;
  if (std::isinf(e.value)) return d == e.value ? verdict::right : verdict::wrong;
  if (std::isinf(e.bound)) return verdict::unjudged;
  if (std::isinf(d)) {
    bool const may_overflow = std::fabs(e.value) + e.before_rounding >= t.out_overflow;
    bool const same_sign = std::signbit(d) == std::signbit(e.value);
    return may_overflow && same_sign ? verdict::right : verdict::wrong;
  }
  return std::fabs(d - e.value) <= e.bound ? verdict::right : verdict::wrong;
}

}  // namespace tw
