// SPDX-License-Identifier: Apache-2.0
// coordinate.hpp  The arguments of t(...): integers, _ and nested crd(...).
//
//     t(i)  t(i, j)  t(_, 2, k)  t(crd(_, 0), j)
//
// Which coordinates are _ is known from the types of the arguments, so the layout of a slice is
// computed by the compiler; the integers are run-time values (or constants: the compiler folds
// them). Coordinates are taken as unsigned: 0 <= c, and 32 bits are enough unless a 64-bit integer
// is given.
// Example:  tests/tensor/tensor_test.cpp "slices"
#pragma once

#include "tilewright/layout/tree.hpp"

namespace tw {

/// The type of _: keep this mode. An enumerator, because device code may pass it by reference.
enum class keep : std::uint8_t { _ };
using enum keep;

/// A nested coordinate: one coordinate for each mode of a mode.
template <class First, class... Rest>
struct crd_of {
  First first;
  crd_of<Rest...> rest;
};
template <class First>
struct crd_of<First> {
  First first;
};
template <class First, class... Rest>
TW_HD constexpr crd_of<First, Rest...> crd(First first, Rest... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    return {first};
  } else {
    return {first, crd(rest...)};
  }
}

namespace detail {

/// How a type stands in a coordinate: `mask` has _ where a mode is kept, 0 at the integers.
template <class C>
struct coordinate {
  static_assert(integer_like<C>, "a coordinate is an integer, _ or crd(...)");
  static constexpr tree mask = tree(0);
  static constexpr bool wide = sizeof(C) > 4;
};
template <>
struct coordinate<keep> {
  static constexpr tree mask = tree(any);
  static constexpr bool wide = false;
};
template <class... C>
struct coordinate<crd_of<C...>> {
  static constexpr tree mask = make_tree(coordinate<C>::mask...);
  static constexpr bool wide = (coordinate<C>::wide || ...);
};

/// The mask of t(c...): a single argument stands for the whole tensor.
template <class... C>
consteval tree mask_of() {
  if constexpr (sizeof...(C) == 1) {
    return (coordinate<C>::mask, ...);
  } else {
    return make_tree(coordinate<C>::mask...);
  }
}

consteval bool keeps_any(tree const& mask) {
  for (int i = 0; i < mask.n; ++i) {
    if (is_any(mask.leaf[i])) return true;
  }
  return false;
}

/// The integers of a coordinate, one for each leaf of its mask (0 for _).
template <int N, class I>
struct index_list {
  using index = I;
  I v[N] = {};
};

template <int At, class List, class C>
TW_HD constexpr void put(List& list, C const& c) {
  if constexpr (requires { c.rest; }) {
    put<At>(list, c.first);
    put<At + coordinate<decltype(c.first)>::mask.n>(list, c.rest);
  } else if constexpr (requires { c.first; }) {
    put<At>(list, c.first);
  } else if constexpr (integer_like<C>) {
    list.v[At] = static_cast<typename List::index>(c);
  }
}

template <int At, class List, class First, class... Rest>
TW_HD constexpr void put_all(List& list, First const& first, Rest const&... rest) {
  put<At>(list, first);
  if constexpr (sizeof...(Rest) > 0) put_all<At + coordinate<First>::mask.n>(list, rest...);
}

template <bool Wide>
struct coordinate_index {
  using type = std::uint32_t;
};
template <>
struct coordinate_index<true> {
  using type = std::uint64_t;
};

template <class... C>
TW_HD constexpr auto indices(C const&... c) {
  using index = typename coordinate_index<(coordinate<C>::wide || ...)>::type;
  index_list<(coordinate<C>::mask.n + ...), index> list;
  put_all<0>(list, c...);
  return list;
}

}  // namespace detail

}  // namespace tw
