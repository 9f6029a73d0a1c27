// SPDX-License-Identifier: Apache-2.0
// error_bound.cpp  The formulas of error_bound.hpp, step by step.
#include "tilewright/problem/error_bound.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "problem/element_outcomes.hpp"
#include "tilewright/base/accumulator_bits.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

namespace {

/// (1 + u)^factors - 1.
double grown(double factors, double u) { return std::expm1(factors * std::log1p(u)); }

/// The error of a sum of K products of 8-bit floats: `unit` of T, and `floor`.
struct sum_error {
  double unit, floor;
};
sum_error fp8_sum_error(gemm_problem const& p) {
  constexpr int step = 32;  // products of one instruction
  accumulator_rule const rule = accumulator_rule_of(p.a.type, elem::f32);
  double const cut = std::ldexp(1, -rule.kept_bits);
  double const v = (step + 1) * cut + std::ldexp(1, -rule.result_bits);  // of one step
  int const interval = promotion_interval(p);
  std::int64_t const one_sum = interval == 0 ? p.k : std::min<std::int64_t>(p.k, interval);
  double const steps = std::ceil(static_cast<double>(one_sum) / step);
  double const additions = interval == 0 ? 2 : 2.0 * static_cast<double>(p.k) / interval + 2;
  double const within = grown(steps, v), across = grown(additions, 0x1p-24);
  // Exponents of the smallest normal and of the largest number.
  auto const least = [](elem e) { return 1 - traits_of(e).format.bias(); };
  auto const most = [](elem e) { return std::ilogb(traits_of(e).largest); };
  int const largest = std::max(least(p.a.type) + most(p.b.type), most(p.a.type) + least(p.b.type));
  double const all_steps = std::ceil(static_cast<double>(p.k) / step);
  return {within + across + within * across, 2 * all_steps * (step + 1) * std::ldexp(cut, largest)};
}

/// Error of sums of block-scaled operands, in units of their scales.
sum_error block_scaled_sum_error(gemm_problem const& p) {
  double const n = static_cast<double>(p.k);
  double const unit = grown(n, 0x1p-22);
  if (packs_in_pairs(p.a.type)) return {unit, 0};
  constexpr int step = 32;
  auto const least = [](elem e) { return 1 - traits_of(e).format.bias(); };
  auto const most = [](elem e) { return std::ilogb(traits_of(e).largest); };
  int const largest = std::max(least(p.a.type) + most(p.b.type), most(p.a.type) + least(p.b.type));
  return {unit, 2 * std::ceil(n / step) * (step + 1) * std::ldexp(0x1p-23, largest)};
}

/// The int32 that 32 bits of an integer are.
double wrapped(double x) {
  double const low = x - std::floor(x * 0x1p-32) * 0x1p32;
  return low >= 0x1p31 ? low - 0x1p32 : low;
}

/// The number in a type that saturates.
expected_element saturated(expected_element e, double most) {
  double const beyond = std::fabs(e.value) - most;
  if (beyond > 0) {  // the bound reaches less far inside than it did around the value
    e.bound = std::isinf(beyond) ? 0 : std::max(0.0, e.bound - beyond);
    e.value = std::copysign(most, e.value);
  }
  e.far = e.far || e.plus_inf || e.minus_inf;
  e.plus_inf = e.minus_inf = false;
  return e;
}

}  // namespace

double bound_magnitude(elem operand, double x) {
  double const magnitude = std::fabs(x);
  float_format const f = traits_of(multiplied_type(operand)).format;
  if (magnitude == 0 || f.bits() < 8) return magnitude;
  return std::max(magnitude, std::ldexp(1.0, 1 - f.bias()));
}

double subnormal_floor(gemm_problem const& p) {
  return is_fp8(p.a.type) && !is_block_scaled(p) ? fp8_sum_error(p).floor : 0;
}

bound_terms make_bound_terms(std::int64_t k, float alpha, float beta, elem d) {
  double const n = static_cast<double>(k);
  bound_terms t{};
  t.alpha = alpha;
  t.beta = beta;
  t.sum_unit = grown(n, 0x1p-22) + n * 0x1p-52;
  t.sum_floor = n * 0x1p-126;
  t.sum_most = FLT_MAX;
  t.out_overflow = 0x1.FFFFFFp127;
  elem_traits const to = traits_of(d);
  float_format const& f = to.format;
  if (f.exists() && to.bits < 32) {
    t.out_unit = std::ldexp(1.0, -f.mantissa_bits - 1);
    t.out_floor = std::ldexp(1.0, -f.bias() - f.mantissa_bits);
    if (to.bits == 16)
      t.out_overflow = std::ldexp(2 - t.out_unit, f.bias());
    else
      t.out_most = static_cast<double>(to.largest);
  } else if (is_8_bit_integer(d)) {
    t.out_floor = 0.5, t.out_most = static_cast<double>(to.largest), t.nan_is_zero = true;
  }
  return t;
}

bound_terms make_bound_terms(gemm_problem const& p) {
  bound_terms t = make_bound_terms(p.k, p.alpha, p.beta, p.d.type);
  double const n = static_cast<double>(p.k);
  if (is_block_scaled(p) && p.k > 0) {
    sum_error const e = block_scaled_sum_error(p);
    t.sum_unit = e.unit + n * 0x1p-52;
    t.sum_floor = e.floor;
    t.out_floor += std::fabs(t.alpha) * n * 0x1p-126;
  } else if (is_fp8(p.a.type)) {
    t.sum_unit = fp8_sum_error(p).unit + n * 0x1p-52;
  } else if (is_8_bit_integer(p.a.type)) {
    t.sum_unit = holds_integer_sums(p.d.type) ? 0 : 0x1p-24;
    t.sum_floor = 0;
    t.wraps = p.precision.wrapping_sums;
  } else if (may_sum_in_f16(p)) {
    double const steps = std::ceil(n / 16);
    t.sum_unit += grown(steps, 17 * 0x1p-10);
    t.sum_floor += steps * 17 * 0x1p-24;
    t.sum_most = 65504;
  }
  return t;
}

outcomes accumulated(exact_sum const& x, bound_terms const& t) {
  if (t.alpha == 0.0) return known(0);  // A and B take no part
  if (t.wraps) {
    double const s = wrapped(x.s);
    return sum_of_products(s, std::fabs(s), t.sum_unit * std::fabs(s), t.sum_most);
  }
  outcomes const sum =
      sum_of_products(x.s, x.t, t.sum_unit * x.t + t.sum_floor * x.largest_scale, t.sum_most);
  return x.second_level == 1 ? sum : times(sum, known(x.second_level));
}

expected_element rounded_to_output(outcomes const& y, bound_terms const& t) {
  expected_element e{};
  outcomes const x = in_register(y);
  e.value = x.value;
  e.plus_inf = x.plus_inf, e.minus_inf = x.minus_inf, e.nan = x.nan, e.far = x.far;
  if (std::isfinite(x.value)) {
    e.before_rounding = x.error;
    e.bound = x.error + t.out_unit * x.magnitude() + t.out_floor;
  }
  return t.out_most > 0 ? saturated(e, t.out_most) : e;
}

expected_element expect_element(exact_sum const& x, bound_terms const& t) {
  outcomes const sum = accumulated(x, t);
  // D of s32 is the sum itself, which has neither factor nor C; so is that of K = 0 without them.
  if (t.sum_unit == 0 && t.alpha == 1.0 && t.beta == 0.0) return rounded_to_output(sum, t);
  outcomes y = times(known(t.alpha), sum);
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
