// SPDX-License-Identifier: Apache-2.0
// activation.hpp  The activations of an epilogue. Each is a type that states its names, what a
//                 kernel computes, the exact function and the error bound; activation_list
//                 registers it. Parsers, help texts, checks and benchmarks read that list.
//
// The members of an activation A:
//   id           its value of the enumeration
//   word         its name in options and shape files; '-' may be written '_'
//   gated_word   the name of the gated unit act(gate) * up
//   compute      what a kernel evaluates, in float32: compute.apply(math, x), with math.exp2 and
//                math.reciprocal, both within 2 units of 2^-24. Activations whose `compute` has the
//                same type share the kernel's code.
//   exact(x)     the function in float64, for finite x
//   lower_limit  the value at -inf; NaN stays NaN
//   limit        x is clamped to it from above; +inf: it is not, and act(+inf) = +inf
//   gate_only    only gates have it (TW0479): kernels without a gate do not contain its code
//   up_limit     with a gate, what the gate multiplies is clamped to [-up_limit, up_limit],
//   up_offset    and up_offset is added: compute.up(x). Without clamp and offset there is no `up`
//   max_slope    an upper bound of |act'|
//   error(x, x_size, y_size)
//                what evaluating it costs beyond max_slope times the error of x: x_size and y_size
//                bound |x| and |y| as the kernel may have them. problem/fused_bound.hpp derives it.
#pragma once

#include <math.h>

#include <cstdint>
#include <utility>

#include "tilewright/base/hd.hpp"

namespace tw {

/// A function of one number, in float32.
///   relu       max(x, 0); a NaN stays one
///   gelu_tanh  x s(2 sqrt(2/pi) (x + 0.044715 x^3)) with s(v) = 1 / (1 + e^-v), which is
///              x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
///   gelu_erf   x/2 (1 + erf(x / sqrt 2))
///   silu       x s(x)
///   clamped_quick_gelu  z s(1.702 z) with z = min(x, 7); for gates alone: the SwiGLU of gpt-oss.
///              The factor of the gate is clamped to [-7, 7], and 1 is added
enum class activation : std::uint8_t { none, relu, gelu_tanh, gelu_erf, silu, clamped_quick_gelu };

namespace activations {

/// max(x, floor), and NaN for NaN.
struct clamp {
  float floor;
  template <class Math>
  TW_DEVICE float apply(Math, float x) const {
    return x < floor ? floor : x;
  }
};

/// x s(x p ln 2) with s(v) = 1 / (1 + e^-v).
template <class Math>
TW_DEVICE float times_sigmoid(Math math, float x, float p) {
  return x * math.reciprocal(1.0F + math.exp2(-x * p));
}

/// x s(x p ln 2) for p = c1 + c3 x^2. If there is no cubic term c3 must still not be 0: 0 times
/// an x^2 that overflows would be NaN.
struct cubic_sigmoid {
  float c1, c3;
  template <class Math>
  TW_DEVICE float apply(Math math, float x) const {
    return times_sigmoid(math, x, fmaf(c3, x * x, c1));
  }
};
/// Leaves c1 as it is until the sigmoid is long 0 or 1.
inline constexpr float no_cubic_term = 1e-30F;

/// x Phi(x): the normal distribution is s(x p(x^2) ln 2) for a smooth p, here a polynomial fitted
/// to |x| < 5 in Chebyshev's norm (gen/gelu.py). Beyond, what p leaves is below 2^-24 |x|.
struct erf_sigmoid {
  template <class Math>
  TW_DEVICE float apply(Math math, float x) const {
    float const t = fminf(x * x, 25.0F);
    float p = fmaf(t, -6.91524962e-11F, 8.86025653e-09F);
    p = fmaf(t, p, -4.55363505e-07F);
    p = fmaf(t, p, 1.20847008e-05F);
    p = fmaf(t, p, -0.000162247088F);
    p = fmaf(t, p, -8.90615556e-05F);
    p = fmaf(t, p, 0.104831517F);
    return times_sigmoid(math, x, fmaf(t, p, 2.30220985F));
  }
};

/// z s(z p ln 2) for z = min(x, limit); what a gate multiplies is clamped to +-limit, and 1 is
/// added. NaN stays NaN.
struct clamped_sigmoid {
  float p, limit;
  template <class Math>
  TW_DEVICE float apply(Math math, float x) const {
    return times_sigmoid(math, x > limit ? limit : x, p);
  }
  TW_DEVICE float up(float x) const {
    float const y = x > limit ? limit : x;
    return (y < -limit ? -limit : y) + 1.0F;
  }
};

/// Of activations that clamp nothing.
struct no_limits {
  static constexpr double limit = HUGE_VAL, up_limit = HUGE_VAL, up_offset = 0;
  static constexpr bool gate_only = false;
};

/// The error of x s(v) by cubic_sigmoid or clamped_sigmoid.
inline double sigmoid_error(double v, double x_size, double y_size) {
  constexpr double h = 0x1p-24;
  double const share = 1 / (1 + exp(v));  // 1 - s(v): what of the power's error reaches the sum
  double const of_power = share == 0 ? 0 : (4 * fabs(v) + 4) * share;
  return (y_size == 0 ? 0 : y_size * h * (of_power + 5)) + 0x1p-125 * x_size;
}

struct none : no_limits {
  static constexpr activation id = activation::none;
  static constexpr char const *word = "none", *gated_word = "bilinear";
  static constexpr clamp compute{-INFINITY};
  static constexpr double lower_limit = -HUGE_VAL, max_slope = 1;
  static double exact(double x) { return x; }
  static double error(double, double, double) { return 0; }
};

struct relu : no_limits {
  static constexpr activation id = activation::relu;
  static constexpr char const *word = "relu", *gated_word = "reglu";
  static constexpr clamp compute{0};
  static constexpr double lower_limit = 0, max_slope = 1;
  static double exact(double x) { return x < 0 ? 0 : x; }
  static double error(double, double, double) { return 0; }
};

struct gelu_tanh : no_limits {
  static constexpr activation id = activation::gelu_tanh;
  static constexpr char const *word = "gelu", *gated_word = "geglu";
  static constexpr cubic_sigmoid compute{2.30220820F, 0.102943240F};
  static constexpr double lower_limit = NAN, max_slope = 1.13;
  static double power(double x) { return 1.5957691216057308 * x * (1 + 0.044715 * x * x); }
  static double exact(double x) { return x / (1 + exp(-power(x))); }
  static double error(double x, double x_size, double y_size) {
    return sigmoid_error(power(x), x_size, y_size);
  }
};

struct gelu_erf : no_limits {
  static constexpr activation id = activation::gelu_erf;
  static constexpr char const *word = "gelu-erf", *gated_word = "geglu-erf";
  static constexpr erf_sigmoid compute{};
  static constexpr double lower_limit = NAN, max_slope = 1.13;
  static double exact(double x) { return 0.5 * x * erfc(-x * 0.70710678118654752); }
  static double error(double, double x_size, double y_size) {
    return 0x1p-22 * x_size + 0x1p-21 * y_size;
  }
};

struct silu : no_limits {
  static constexpr activation id = activation::silu;
  static constexpr char const *word = "silu", *gated_word = "swiglu";
  static constexpr cubic_sigmoid compute{1.44269504F, no_cubic_term};
  static constexpr double lower_limit = NAN, max_slope = 1.1;
  static double exact(double x) { return x / (1 + exp(-x)); }
  static double error(double x, double x_size, double y_size) {
    return sigmoid_error(x, x_size, y_size);
  }
};

struct clamped_quick_gelu {
  static constexpr activation id = activation::clamped_quick_gelu;
  static constexpr char const *word = "clamped-quick-gelu", *gated_word = "swigluoai";
  static constexpr clamped_sigmoid compute{2.45546696F, 7.0F};
  static constexpr double lower_limit = NAN, max_slope = 1.1;
  static constexpr double limit = 7, up_limit = 7, up_offset = 1;
  static constexpr bool gate_only = true;
  static double power(double x) { return 1.702 * x; }
  static double exact(double x) { return fmin(x, limit) / (1 + exp(-power(fmin(x, limit)))); }
  static double error(double x, double x_size, double y_size) {
    return sigmoid_error(power(x), x_size, y_size);
  }
};

}  // namespace activations

template <class... A>
struct type_list {};

/// All activations, in the order of the enumeration.
using activation_list =
    type_list<activations::none, activations::relu, activations::gelu_tanh, activations::gelu_erf,
              activations::silu, activations::clamped_quick_gelu>;

/// The names of an activation.
struct activation_names {
  activation id;
  char const *word, *gated_word;
};
namespace detail {
template <int Count>
struct activation_table {
  static constexpr int size = Count;
  activation_names row[Count];
  constexpr activation_names const* begin() const { return row; }
  constexpr activation_names const* end() const { return row + Count; }
  constexpr bool has_order_of_enumeration() const {
    for (int i = 0; i < Count; ++i)
      if (static_cast<int>(row[i].id) != i) return false;
    return true;
  }
};
template <class... A>
constexpr activation_table<sizeof...(A)> make_activation_table(type_list<A...>) {
  return {{{A::id, A::word, A::gated_word}...}};
}
}  // namespace detail

/// Names of all activations.
inline constexpr auto all_activations = detail::make_activation_table(activation_list{});
inline constexpr int activation_count = all_activations.size;
static_assert(all_activations.has_order_of_enumeration());

/// A value may have come from a cast: is it one of the list?
constexpr bool is_activation(activation id) { return static_cast<int>(id) < activation_count; }

namespace detail {
template <class... A>
constexpr bool is_gate_only(activation id, type_list<A...>) {
  return (... || (A::id == id && A::gate_only));
}
}  // namespace detail
/// True if the activation is computed with a gate alone.
constexpr bool is_gate_only(activation id) { return detail::is_gate_only(id, activation_list{}); }

namespace detail {
template <class Call, class First, class... A>
auto visit_activation(activation id, Call& call, type_list<First, A...>) {
  if constexpr (sizeof...(A) > 0) {
    if (id != First::id) return visit_activation(id, call, type_list<A...>{});
  }
  return call(First{});
}
}  // namespace detail

/// call(A{}) with the registered type of an activation; `id` is one of the list.
template <class Call>
auto visit_activation(activation id, Call call) {
  return detail::visit_activation(id, call, activation_list{});
}

}  // namespace tw
