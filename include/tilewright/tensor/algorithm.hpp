// SPDX-License-Identifier: Apache-2.0
// algorithm.hpp  The slow and obvious algorithms: fill, clear, transform, axpby, gemm.
//
//     clear(acc);                     fill(t, value);
//     transform(x, y, f);             y = f(x), of any two element types
//     axpby(alpha, x, beta, y);       y = alpha x + beta y; beta == 0 does not use y
//     gemm(a, b, c);                  c(i, j) += sum over k of a(i, k) b(j, k)
//
// Those that walk memory do it in the widest vectors that their tensors allow (common.hpp). bf16,
// f16, fp8 and tf32 are computed in float and rounded once; other types in their own arithmetic.
// Needs:    shapes that agree, static [TW0143, TW0144, TW0145]
// Example:  tests/tensor/algorithm_test.cpp
#pragma once

#include "tilewright/base/convert.hpp"
#include "tilewright/tensor/copy.hpp"

namespace tw {

namespace detail {

/// The types of elem.hpp, which are computed in float.
template <class T>
concept float_element = requires {
  elem_held<T>(std::declval<held_elements>());
};

/// A value to compute with.
template <class T>
TW_HD constexpr auto widened(T const& x) {
  if constexpr (float_element<T>) {
    return to_float(x);
  } else {
    return x;
  }
}
template <class T, class W>
TW_HD constexpr T narrowed(W x) {
  if constexpr (float_element<T>) {
    return from_float<T>(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

/// y = f(x, y), packet by packet.
template <class X, class Y, class F>
TW_HD constexpr void update(X const& x, Y const& y, F const& f) {
  static_assert(need_agreement(agree(X::map, Y::map)));
  constexpr common_walk walk = walk_of<X, Y>();
  constexpr int n = walk.vec_elems;
  auto const a = with_layout<walk.a>(x);
  auto const b = with_layout<walk.b>(y);
  if constexpr (n > 1) {
    auto const va = vec<n>(a);
    auto const vb = vec<n>(b);
    TW_UNROLL
    for (int i = 0; i < size(vb); ++i) {
      auto const from = va(i);
      auto to = vb(i);
      TW_UNROLL
      for (int k = 0; k < n; ++k) f(from[k], to[k]);
      move_element(to, vb(i));
    }
  } else {
    TW_UNROLL
    for (int i = 0; i < size(b); ++i) f(a(i), b(i));
  }
}

}  // namespace detail

/// Every element of t becomes `value`.
template <tensor_like V>
TW_HD constexpr void fill(V&& v, detail::mutable_of<typename view_of<V>::element> value) {
  detail::update(v.view(), v.view(), [value](auto const&, auto& to) { to = value; });
}

/// Every element of t becomes zero.
template <tensor_like V>
TW_HD constexpr void clear(V&& v) {
  fill(v, detail::mutable_of<typename view_of<V>::element>{});
}

/// y(c) = f(x(c)).
template <tensor_like X, tensor_like Y, class F>
TW_HD constexpr void transform(X&& x, Y&& y, F const& f) {
  detail::update(x.view(), y.view(), [&f](auto const& from, auto& to) { to = f(from); });
}

/// y(c) = alpha x(c) + beta y(c).
template <class Scalar, tensor_like X, tensor_like Y>
TW_HD constexpr void axpby(Scalar alpha, X&& x, Scalar beta, Y&& y) {
  using to_type = detail::mutable_of<typename view_of<Y>::element>;
  detail::update(x.view(), y.view(), [=](auto const& from, auto& to) {
    auto const scaled = alpha * detail::widened(from);
    to = detail::narrowed<to_type>(beta == Scalar{} ? scaled : scaled + beta * detail::widened(to));
  });
}

/// c (m, n) += a (m, k) b (n, k), k outermost.
template <tensor_like A, tensor_like B, tensor_like C>
TW_HD constexpr void gemm(A&& a, B&& b, C&& c) {
  constexpr layout la = map_of<A>;
  constexpr layout lb = map_of<B>;
  constexpr layout lc = map_of<C>;
  static_assert(detail::need_rank(rank(la), 2));
  static_assert(detail::need_rank(rank(lb), 2));
  static_assert(detail::need_rank(rank(lc), 2));
  static_assert(detail::need_shape(detail::mode_size(la, 0), detail::mode_size(lc, 0)));
  static_assert(detail::need_shape(detail::mode_size(lb, 0), detail::mode_size(lc, 1)));
  static_assert(detail::need_shape(detail::mode_size(lb, 1), detail::mode_size(la, 1)));
  using sum = detail::mutable_of<typename view_of<C>::element>;
  auto const va = a.view();
  auto const vb = b.view();
  auto const vc = c.view();
  TW_UNROLL
  for (int k = 0; k < detail::mode_size(la, 1); ++k) {
    TW_UNROLL
    for (int i = 0; i < detail::mode_size(la, 0); ++i) {
      TW_UNROLL
      for (int j = 0; j < detail::mode_size(lb, 0); ++j) {
        auto const product = detail::widened(va(i, k)) * detail::widened(vb(j, k));
        vc(i, j) = detail::narrowed<sum>(detail::widened(vc(i, j)) + product);
      }
    }
  }
}

}  // namespace tw
