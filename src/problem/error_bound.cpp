// SPDX-License-Identifier: Apache-2.0
// error_bound.cpp  The formulas of error_bound.hpp, step by step.
#include "tilewright/problem/error_bound.hpp"

#include <cmath>

#include "problem/element_outcomes.hpp"

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

outcomes accumulated(exact_sum const& x, bound_terms const& t) {
  if (t.alpha == 0.0) return known(0);  // A and B take no part
  return sum_of_products(x.s, x.t, t.sum_unit * x.t + t.sum_floor);
}

expected_element rounded_to_output(outcomes const& y, bound_terms const& t) {
  expected_element e{};
  outcomes const x = in_register(y);
  e.value = x.value;
  e.plus_inf = x.plus_inf, e.minus_inf = x.minus_inf, e.nan = x.nan, e.far = x.far;
  if (!std::isfinite(x.value)) return e;
  e.before_rounding = x.error;
  e.bound = x.error + t.out_unit * x.magnitude() + t.out_floor;
  return e;
}

expected_element expect_element(exact_sum const& x, bound_terms const& t) {
  outcomes y = times(known(t.alpha), accumulated(x, t));
  if (t.beta != 0.0) y = plus(y, times(known(t.beta), known(x.c)));
  return rounded_to_output(y, t);
}

verdict judge(double d, expected_element const& e, bound_terms const& t) {
  auto const possible = [](bool outcome) { return outcome ? verdict::unjudged : verdict::wrong; };
  if (std::isnan(d)) return std::isnan(e.value) ? verdict::right : possible(e.nan);
  if (d == e.value) return verdict::right;
  if (std::isinf(d)) {
    bool const same_sign = std::signbit(d) == std::signbit(e.value);
    bool const beyond_output = std::fabs(e.value) + e.before_rounding >= t.out_overflow;
    if (std::isfinite(e.value) && same_sign && beyond_output) return verdict::right;
    return possible(d > 0 ? e.plus_inf : e.minus_inf);
  }
  if (std::isfinite(e.value) && std::fabs(d - e.value) <= e.bound) return verdict::right;
  return possible(e.far);
}

}  // namespace tw
