// SPDX-License-Identifier: Apache-2.0
// fragment.hpp  Register tensors that own their elements.
//
//     fragment<float, "(2,2,4):(1,2,4)"_L> acc;      a kernel's local array with a layout
//     auto x = fragment_like(partition<tv>(t, i));   the shape of a thread's part, packed
//     auto y = fragment_like<float>(x);              the same shape, other elements
//
// A fragment has the interface of a tensor (acc(i, j), acc(_, j), vec<4>(acc), copy, gemm); slices
// are views of it. With constant coordinates, as in unrolled loops, the compiler keeps it in
// registers. Elements are not initialised: clear() or fill() them.
// Needs:    a static layout [TW0129 from cosize]
// Ensures:  fragment_like(t) has t's shape; its offsets are 0 .. size - 1, mode 0 contiguous
// Example:  tests/tensor/copy_test.cpp
#pragma once

#include "tilewright/layout/like.hpp"
#include "tilewright/tensor/view.hpp"

namespace tw {

namespace detail {

/// Alignment of a fragment: vectors as wide as its size allows.
TW_HD constexpr int fragment_alignment(i64 bytes, int of_type) {
  i64 const widest = smaller(lowest_bit(bytes), max_access_bytes);
  return static_cast<int>(larger(widest, of_type));
}

}  // namespace detail

template <class T, layout L>
struct fragment {
  using element = T;
  static constexpr layout map = L;
  static constexpr i64 count = cosize(L);
  static constexpr int align_bytes =
      detail::fragment_alignment(count * i64{sizeof(T)}, int{alignof(T)});

  alignas(align_bytes) T v[count];

  TW_HD constexpr auto view() { return tensor<T, L, rmem.aligned(align_bytes)>{v}; }
  TW_HD constexpr auto view() const { return tensor<T const, L, rmem.aligned(align_bytes)>{v}; }

  template <class... C>
  TW_HD constexpr decltype(auto) operator()(C const&... c) {
    return view()(c...);
  }
  template <class... C>
  TW_HD constexpr decltype(auto) operator()(C const&... c) const {
    return view()(c...);
  }
};

namespace detail {
template <class T>
struct plain_element {
  using type = T;
};
template <class T>
struct plain_element<T const> {
  using type = T;
};
template <class T>
using mutable_of = typename plain_element<T>::type;
}  // namespace detail

/// A fragment of layout L.
template <class T, layout L>
TW_HD constexpr fragment<T, L> make_fragment() {
  return fragment<T, L>();
}

/// A fragment of the shape of t, packed in the order of t's strides, mode 0 first.
template <class U, tensor_like V>
TW_HD constexpr auto fragment_like(V&&) {
  return fragment<U, make_fragment_like(map_of<V>)>();
}
template <tensor_like V>
TW_HD constexpr auto fragment_like(V&& t) {
  return fragment_like<detail::mutable_of<typename view_of<V>::element>>(t);
}

}  // namespace tw
