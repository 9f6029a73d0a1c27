// SPDX-License-Identifier: Apache-2.0
// outcomes.hpp  Possible values of a number computed in float32: near its exact value,
//               infinite, NaN. Rules of arithmetic for such sets.
#pragma once

#include <cfloat>
#include <cmath>

namespace tw {

/// The outcomes that are possible for one number. Every operation keeps all of them: a result that
/// is outside of the set is wrong whatever the order of summation and contraction into FMAs.
struct outcomes {
  double value = 0;  // the exact result in float32's range: finite, infinite or NaN
  double error = 0;  // where value is finite: how far a finite outcome may be from it
  bool plus_inf = false, minus_inf = false, nan = false;  // these are possible
  bool far = false;  // finite outcomes farther from value are possible too

  bool has_finite() const { return std::isfinite(value) || far; }
  double magnitude() const { return std::fabs(value) + error; }
};

/// A number that is known: an operand of the epilogue.
outcomes known(double x);

/// a + b and a b, each rounded once to float32 (or exact, inside an FMA).
outcomes plus(outcomes const& a, outcomes const& b);
outcomes times(outcomes const& a, outcomes const& b);

/// Adds what the range of float32 does to a number that a register holds: where the exact value
/// cannot be finite there, it is infinite.
outcomes in_register(outcomes x);

/// A sum of products in any order. sum: exact, infinite or NaN where a product is; magnitudes: sum
/// of |a b| over the finite terms; error: how far a finite sum may be from the exact one; most: the
/// largest finite sum.
outcomes sum_of_products(double sum, double magnitudes, double error, double most = FLT_MAX);

}  // namespace tw
