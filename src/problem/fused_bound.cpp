// SPDX-License-Identifier: Apache-2.0
// fused_bound.cpp  The formulas of fused_bound.hpp, step by step.
#include "tilewright/problem/fused_bound.hpp"

#include <algorithm>
#include <cmath>

#include "problem/element_outcomes.hpp"
#include "tilewright/problem/epilogue_kind.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

namespace {

outcomes linear(exact_linear const& x, fused_terms const& t) {
  outcomes y =
      times(known(t.out.alpha), accumulated({x.s, x.t, 0, x.largest_scale, x.second_level}, t.out));
  if (x.row_scale != 1) y = times(y, known(x.row_scale));
  if (x.col_scale != 1) y = times(y, known(x.col_scale));
  if (x.bias != 0) y = plus(y, known(x.bias));
  return y;
}

outcomes add_c(outcomes const& x, double c, fused_terms const& t) {
  if (t.out.beta == 0.0) return x;
  return plus(x, times(known(t.out.beta), known(c)));
}

/// x between two limits. An infinity becomes the limit, which may be far from the exact value.
outcomes clamped(outcomes x, double low, double high) {
  double const before = x.value;
  x.value = std::clamp(before, low, high);
  if (std::isfinite(high) && x.plus_inf)
    x.plus_inf = false, x.far = x.far || !(std::fabs(high - x.value) <= x.error);
  if (std::isfinite(low) && x.minus_inf)
    x.minus_inf = false, x.far = x.far || !(std::fabs(low - x.value) <= x.error);
  if (std::isinf(before) && std::isfinite(x.value)) x.error = 0;
  return x;
}

/// y = A(x): the error of x, times the slope, and what the evaluation costs.
template <class A>
outcomes apply(outcomes const& unclamped) {
  outcomes const x = clamped(unclamped, -HUGE_VAL, A::limit);
  outcomes y = x;
  if (A::lower_limit != -HUGE_VAL) {
    if (std::isnan(A::lower_limit))
      y.nan = y.nan || x.minus_inf;
    else
      y.far = y.far || (x.minus_inf && x.value != -HUGE_VAL);
    y.minus_inf = false;
  }
  if (x.value == -HUGE_VAL) y.value = A::lower_limit;
  if (!std::isfinite(x.value)) {
    if (std::isfinite(y.value)) y.error = 0;
    return y;
  }
  double const of_x = A::max_slope * x.error;
  y.value = A::exact(x.value);
  y.error = of_x + A::error(x.value, x.magnitude(), std::fabs(y.value) + of_x);
  return y;
}

outcomes activated(outcomes const& before, activation act) {
  outcomes const x = in_register(before);
  return visit_activation(act, [&](auto of) { return apply<decltype(of)>(x); });
}

/// The values that a gate multiplies, as its activation takes them.
outcomes passed(outcomes const& before, activation act) {
  outcomes const x = in_register(before);
  return visit_activation(act, [&](auto of) {
    using A = decltype(of);
    outcomes const up = clamped(x, -A::up_limit, A::up_limit);
    return A::up_offset == 0 ? up : in_register(plus(up, known(A::up_offset)));
  });
}

}  // namespace

fused_terms make_fused_terms(gemm_problem const& p) {
  gemm_problem const q = with_epilogue_scales(p);
  return {make_bound_terms(p), q.epilogue, epilogue_needed(q).value()};
}

expected_element expect_fused(exact_fused const& x, fused_terms const& t) {
  return visit_epilogue(t.kind, [&](auto of) { return of.bound(x, t); });
}

expected_element epilogues::plain::bound(exact_fused const& x, fused_terms const& t) {
  return expect_element({x.x.s, x.x.t, x.c, x.x.largest_scale, x.x.second_level}, t.out);
}

/// y of the formula, before it is rounded to D's type.
static outcomes fused_result(exact_fused const& x, fused_terms const& t) {
  gemm_epilogue const& e = t.epilogue;
  outcomes x_all = linear(x.x, t);
  if (!e.c_last) x_all = add_c(x_all, x.c, t);
  outcomes y = activated(x_all, e.act);
  if (e.gate != gating::none) y = in_register(times(y, passed(linear(x.up, t), e.act)));
  if (x.weight != 1) y = times(in_register(y), known(x.weight));
  if (e.c_last) y = add_c(y, x.c, t);
  return y;
}

expected_element epilogues::ops::bound(exact_fused const& x, fused_terms const& t) {
  return rounded_to_output(fused_result(x, t), t.out);
}

expected_element epilogues::quantize::bound(exact_fused const& x, fused_terms const& t) {
  outcomes const y = in_register(fused_result(x, t));
  double const s = x.scale_d;
  outcomes q;
  if (s == 0 || !std::isfinite(s)) {  // as IEEE 754 divides
    q = known(y.value / s);
    q.far = true, q.nan = true;
  } else {
    q = times(y, known(1 / s));
    q.error += std::fabs(q.value) * 0x1p-52;
  }
  if (y.far) q.far = true;
  expected_element e = rounded_to_output(q, t.out);
  if (t.out.nan_is_zero && std::isnan(e.value)) e.value = e.bound = 0;
  if (t.out.nan_is_zero && e.nan) e.far = true;
  return e;
}

expected_element expect_aux(exact_linear const& x, double c, fused_terms const& t) {
  outcomes const before = linear(x, t);
  return rounded_to_output(t.epilogue.c_last ? before : add_c(before, c, t), t.out);
}

}  // namespace tw
