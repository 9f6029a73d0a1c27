// SPDX-License-Identifier: Apache-2.0
// copy.hpp  copy(from, to): element by element, in the widest vectors that both tensors allow.
//
//     copy(src, dst);               16 bytes at a time where layouts, swizzles and alignment permit
//     copy_if(inside, src, dst);    only where the predicate tensor says so
//
// The width is computed by the compiler from both layouts, what is known of both alignments, and
// the 16 bytes of one access; copy_width(src, dst) is that width. For whole vectors with predicates
// pass vec<8>(src), vec<8>(dst) and a predicate of their shape.
// Law:      afterwards dst(c) == src(c) for every c (where inside(c)), nothing else has changed
// Needs:    the same number of modes [TW0143] of the same static sizes [TW0144, TW0145]; one
//           element type [TW0151]
// Example:  tests/tensor/copy_test.cpp
#pragma once

#include "tilewright/tensor/common.hpp"
#include "tilewright/tensor/fragment.hpp"

namespace tw {

namespace detail {

template <class T, class U>
inline constexpr bool same_type = false;
template <class T>
inline constexpr bool same_type<T, T> = true;

template <class From, class To>
inline constexpr bool same_elements =
    same_type<mutable_of<typename From::element>, typename To::element>;

template <class V>
inline constexpr i64 element_bits = 8 * i64{sizeof(typename V::element)};

/// to(i) = from(i) where inside(i), for tensors of as many elements.
template <class Predicate, class From, class To>
TW_HD constexpr void copy_elements(Predicate const& inside, From const& from, To const& to) {
  element_walk<From> a{from};
  element_walk<To> b{to};
  TW_UNROLL
  for (int i = 0; i < static_cast<int>(size(To::map)); ++i) {
    if (inside(i)) move_element(a.element(i), b.element(i));
    a.next();
    b.next();
  }
}

struct everywhere {
  TW_HD constexpr bool operator()(int) const { return true; }
};

template <common_walk Walk, class From, class To>
TW_HD constexpr void copy_walked(From&& from, To&& to) {
  auto const a = with_layout<Walk.a>(from);
  auto const b = with_layout<Walk.b>(to);
  if constexpr (Walk.vec_elems > 1) {
    copy_elements(everywhere{}, vec<Walk.vec_elems>(a), vec<Walk.vec_elems>(b));
  } else {
    copy_elements(everywhere{}, a, b);
  }
}

}  // namespace detail

/// Elements that copy(from, to) moves at a time.
template <tensor_like From, tensor_like To>
TW_HD constexpr int copy_width(From&&, To&&) {
  static_assert(detail::need_agreement(detail::agree(map_of<From>, map_of<To>)));
  return detail::walk_of<view_of<From>, view_of<To>>().vec_elems;
}

template <tensor_like From, tensor_like To>
TW_HD constexpr void copy(From&& from, To&& to) {
  using f = view_of<From>;
  using t = view_of<To>;
  constexpr bool same = detail::same_elements<f, t>;
  static_assert(detail::need_same_type(same, detail::element_bits<f>, detail::element_bits<t>));
  static_assert(detail::need_agreement(detail::agree(f::map, t::map)));
  if constexpr (same && detail::agree(f::map, t::map).rule == 0) {
    detail::copy_walked<detail::walk_of<f, t>()>(from, to);
  }
}

/// Where the predicate, a tensor of the same shape, holds.
template <tensor_like Predicate, tensor_like From, tensor_like To>
TW_HD constexpr void copy_if(Predicate&& inside, From&& from, To&& to) {
  using f = view_of<From>;
  using t = view_of<To>;
  constexpr bool same = detail::same_elements<f, t>;
  static_assert(detail::need_same_type(same, detail::element_bits<f>, detail::element_bits<t>));
  static_assert(detail::need_agreement(detail::agree(f::map, t::map)));
  static_assert(detail::need_agreement(detail::agree(map_of<Predicate>, t::map)));
  detail::copy_elements(inside.view(), from.view(), to.view());
}

}  // namespace tw
