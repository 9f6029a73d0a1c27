// SPDX-License-Identifier: Apache-2.0
// activation_formulas.hpp  The activations as their definitions state them, for tests: independent
//                          of the list that the library reads. A new enumerator of `activation` is
//                          a new case of each switch, which the compiler requires.
#pragma once

#include <cmath>
#include <vector>

#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/activation.hpp"

namespace tw::test {

/// All that the library has.
inline std::vector<activation> all_registered_activations() {
  std::vector<activation> all;
  for (activation_names const& names : all_activations) all.push_back(names.id);
  return all;
}

/// All gates that accept() takes for enumerators (TW0416).
inline std::vector<gating> const& all_accepted_gates() {
  static std::vector<gating> const all = [] {
    std::vector<gating> found;
    for (int i = 0; i < 256; ++i) {
      gemm_problem p;
      p.epilogue.gate = static_cast<gating>(i);
      auto const refused = accept(p);
      if (!refused || refused->code != "TW0416") found.push_back(p.epilogue.gate);
    }
    return found;
  }();
  return all;
}

/// act(x) in float64, infinities and NaN included.
inline double formula_of(activation act, double x) {
  double const cubic = 1.5957691216057308 * x * (1 + 0.044715 * x * x);
  double const z = x > 7 ? 7 : x;
  switch (act) {
    case activation::none: return x;
    case activation::relu: return x < 0 ? 0 : x;
    case activation::silu: return x / (1 + std::exp(-x));
    case activation::gelu_tanh: return x / (1 + std::exp(-cubic));
    case activation::gelu_erf: return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case activation::clamped_quick_gelu: return z / (1 + std::exp(-1.702 * z));
  }
  return NAN;
}

/// The factor of act(x) that a gate makes of `up`, in float64. NaN stays, as in torch.clamp.
inline double passed(activation act, double up) {
  if (act != activation::clamped_quick_gelu) return up;
  return (up > 7 ? 7 : up < -7 ? -7 : up) + 1;
}

/// How far a kernel's act(x) may be from it, before D is rounded. The sigmoid's power may be off by
/// 4 units of 2^-24 of up to 88, a sigmoid below 2^-125 may be 0, and gelu_erf is a polynomial.
inline double error_of(activation act, double x) {
  double const y = std::fabs(formula_of(act, x));
  double const of_sigmoid = 0x1p-15 * y + 0x1p-125 * std::fabs(x);
  switch (act) {
    case activation::none:
    case activation::relu: return 0;
    case activation::silu:
    case activation::clamped_quick_gelu:
    case activation::gelu_tanh: return of_sigmoid;
    case activation::gelu_erf: return of_sigmoid + 0x1p-22 * std::fabs(x);
  }
  return 0;
}

}  // namespace tw::test
