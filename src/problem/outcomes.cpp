// SPDX-License-Identifier: Apache-2.0
// outcomes.cpp  Interval arithmetic with infinities and NaN.
#include "problem/outcomes.hpp"

#include <algorithm>

namespace tw {
namespace {

// One rounding to nearest, and what float64 loses in computing the exact value.
constexpr double rounding = 0x1p-24 + 0x1p-50;

void add_class_of_value(outcomes& x) {
  x.plus_inf = x.plus_inf || x.value == HUGE_VAL;
  x.minus_inf = x.minus_inf || x.value == -HUGE_VAL;
  x.nan = x.nan || std::isnan(x.value);
}

/// Infinities that a finite result becomes beyond float32's range.
void add_overflow(outcomes& x) {
  if (!std::isfinite(x.value)) return;
  x.plus_inf = x.plus_inf || !(x.value + x.error < FLT_MAX);
  x.minus_inf = x.minus_inf || !(x.value - x.error > -FLT_MAX);
}

bool may_be_positive(outcomes const& x) {
  return x.plus_inf || x.far || (std::isfinite(x.value) && x.value + x.error > 0);
}
bool may_be_negative(outcomes const& x) {
  return x.minus_inf || x.far || (std::isfinite(x.value) && x.value - x.error < 0);
}
bool may_be_zero(outcomes const& x) {
  return x.far || (std::isfinite(x.value) && std::fabs(x.value) <= x.error);
}
bool may_be_infinite(outcomes const& x) { return x.plus_inf || x.minus_inf; }

}  // namespace

outcomes known(double x) {
  outcomes r{.value = x};
  add_class_of_value(r);
  add_overflow(r);
  return r;
}

outcomes plus(outcomes const& a, outcomes const& b) {
  outcomes r{.value = a.value + b.value};
  r.error = a.error + b.error + rounding * (a.magnitude() + b.magnitude());
  r.plus_inf = (a.plus_inf && (b.has_finite() || b.plus_inf)) || (b.plus_inf && a.has_finite());
  r.minus_inf = (a.minus_inf && (b.has_finite() || b.minus_inf)) || (b.minus_inf && a.has_finite());
  r.nan = a.nan || b.nan || (a.plus_inf && b.minus_inf) || (a.minus_inf && b.plus_inf);
  r.far = (a.far && b.has_finite()) || (b.far && a.has_finite());
  add_class_of_value(r);
  add_overflow(r);
  return r;
}

outcomes times(outcomes const& a, outcomes const& b) {
  outcomes r{.value = a.value * b.value};
  if (std::isfinite(r.value))
    r.error = std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error +
              rounding * a.magnitude() * b.magnitude() + 0x1p-126;
  auto const infinite_times = [&](outcomes const& x, outcomes const& y) {
    if (!may_be_infinite(x)) return;
    bool const up = may_be_positive(y), down = may_be_negative(y);
    r.plus_inf = r.plus_inf || (x.plus_inf && up) || (x.minus_inf && down);
    r.minus_inf = r.minus_inf || (x.plus_inf && down) || (x.minus_inf && up);
    r.nan = r.nan || may_be_zero(y);
  };
  r.nan = a.nan || b.nan;
  infinite_times(a, b);
  infinite_times(b, a);
  r.far = (a.far && b.has_finite()) || (b.far && a.has_finite());
  add_class_of_value(r);
  add_overflow(r);
  return r;
}

outcomes in_register(outcomes x) {
  if (!std::isfinite(x.value)) return x;
  double const low = x.value - x.error, high = x.value + x.error;
  constexpr double rounds_to_infinity = 0x1.FFFFFFp127;
  if (low > rounds_to_infinity || high < -rounds_to_infinity) {
    x.value = std::copysign(HUGE_VAL, x.value);
    x.error = 0;
  } else if (low < -FLT_MAX || high > FLT_MAX) {
    x.value = std::clamp<double>(x.value, -FLT_MAX, FLT_MAX);
    x.error = std::max(std::min<double>(high, FLT_MAX) - x.value,
                       x.value - std::max<double>(low, -FLT_MAX));
  }
  add_class_of_value(x);
  return x;
}

outcomes sum_of_products(double sum, double magnitudes, double error, double most) {
  outcomes r{.value = sum, .error = std::isfinite(sum) ? error : 0};
  // A partial sum lies between the sum of the negative products and that of the positive ones.
  double const finite = std::isfinite(sum) ? sum : 0;
  double const slack = std::isfinite(sum) ? 0 : magnitudes;  // their difference is not known
  double const all = std::fmax(magnitudes, std::fabs(finite));
  double const positive = (all + finite + slack) / 2 + error;
  double const negative = (all - finite + slack) / 2 + error;
  bool const up = !(positive < most), down = !(negative < most);
  add_class_of_value(r);
  r.nan = r.nan || (up && (down || r.minus_inf)) || (down && r.plus_inf);
  if (std::isfinite(sum)) r.plus_inf = up, r.minus_inf = down;
  return in_register(r);
}

}  // namespace tw
