// SPDX-License-Identifier: Apache-2.0
// formula.hpp  The parts of an epilogue's formula that kernels of every family compute alike:
//              activations, alpha, and when alpha and the bias are one operation.
#pragma once

#include <type_traits>

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/epilogue/params.hpp"

namespace tw {

/// The mathematical functions of activations (problem/activation.hpp).
struct device_math {
  TW_DEVICE static float exp2(float x) { return exp2_approx(x); }
  TW_DEVICE static float reciprocal(float x) { return reciprocal_approx(x); }
};

/// Is x = fma(alpha, sum, bias), rounded once? It is where nothing else takes part: whichever code
/// of whichever kernel computes an element, its bits are these.
TW_DEVICE bool bias_takes_alpha(epilogue_params const& p, float alpha) {
  fused_params const& f = p.fused;
  return p.c.data == nullptr && f.row_scale == nullptr && f.col_scale == nullptr &&
         f.bias != nullptr && alpha != 0.0F;
}
TW_DEVICE bool bias_takes_alpha(epilogue_params const& p) { return bias_takes_alpha(p, p.alpha); }

/// An activation in a kernel: operator()(x) is applied to the gate, or to the only value of an
/// element; up(x) is applied to the value that the gate multiplies.
template <class Form>
struct activation_code {
  Form form;
  TW_DEVICE float operator()(float x) const { return form.apply(device_math{}, x); }
  TW_DEVICE float up(float x) const {
    if constexpr (requires { form.up(x); })
      return form.up(x);
    else
      return x;
  }
};

namespace detail {

/// Sets `form` to that of activation `id`, if its type is Form.
template <class Form, class... A>
TW_DEVICE bool find_form(activation id, Form& form, type_list<A...>) {
  bool found = false;
  auto const consider = [&](auto of) {
    if constexpr (std::is_same_v<decltype(of.compute), Form const>) {
      constexpr Form candidate = decltype(of)::compute;
      if (id == decltype(of)::id) form = candidate, found = true;
    }
  };
  (consider(A{}), ...);
  return found;
}

/// Calls `call` with the activation's form: the first of the list is that of First, or the rest has
/// it.
template <class Call, class First, class... Rest>
TW_DEVICE void with_form(activation id, Call& call, type_list<First, Rest...>) {
  using form = std::remove_const_t<decltype(First::compute)>;
  form f{};
  if (find_form(id, f, activation_list{}) || sizeof...(Rest) == 0)
    return call(activation_code<form>{f});
  if constexpr (sizeof...(Rest) > 0) with_form(id, call, type_list<Rest...>{});
}

/// One activation for each type of `compute`, of those that kernels with a gate, or without, have.
template <bool Gated, class... Kept>
constexpr auto of_each_form(type_list<Kept...> kept, type_list<>) {
  return kept;
}
template <bool Gated, class... Kept, class First, class... Rest>
constexpr auto of_each_form(type_list<Kept...> kept, type_list<First, Rest...>) {
  if constexpr ((... || std::is_same_v<decltype(First::compute), decltype(Kept::compute)>) ||
                (First::gate_only && !Gated))
    return of_each_form<Gated>(kept, type_list<Rest...>{});
  else
    return of_each_form<Gated>(type_list<Kept..., First>{}, type_list<Rest...>{});
}

}  // namespace detail

/// Calls `call` with the activation: separate code for each form of `compute`, so that a tile
/// decides once. Gated: of a gate, which has activations that nothing else has.
template <bool Gated, class Call>
TW_DEVICE void with_activation(activation id, Call&& call) {
  using forms = decltype(detail::of_each_form<Gated>(type_list<>{}, activation_list{}));
  detail::with_form(id, call, forms{});
}

/// alpha times a sum. With alpha == 0 the sum does not take part, as in BLAS: neither do infinities
/// and NaNs in it.
TW_DEVICE float times_alpha(float alpha, float sum) { return alpha == 0.0F ? 0.0F : alpha * sum; }

}  // namespace tw
