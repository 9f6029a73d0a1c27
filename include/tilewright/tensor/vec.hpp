// SPDX-License-Identifier: Apache-2.0
// vec.hpp  Vectorised access, checked: the same tensor in packets of N elements, or in other types.
//
//     vec<8>(t)(0, i) = vec<8>(s)(0, i);      16 bytes of bf16 with one load and one store
//
// The mode that is contiguous shrinks by N. The layout must have a run of N contiguous elements
// that starts at multiples of N everywhere (a swizzle keeps runs of 2^base together), and the
// first element must be known to be aligned: the pointer's promise, less what slicing took away.
// Law:      vec<N>(t)(c).v[i] is t(N c + i) along the contiguous mode; recast<U>(t) sees the bytes
//           of t
// Needs:    a run of N [TW0140]; alignment to N elements [TW0141]; 1 to 16 bytes, a power of two
//           [TW0142]
// Example:  tests/tensor/copy_test.cpp
#pragma once

#include "tilewright/layout/recast.hpp"
#include "tilewright/tensor/view.hpp"

namespace tw {

/// N elements that are loaded and stored at once. In memory it is aligned to its size.
template <class T, int N>
struct alignas(N * sizeof(T)) packet {
  T v[N];

  TW_HD constexpr T& operator[](int i) { return v[i]; }
  TW_HD constexpr T const& operator[](int i) const { return v[i]; }
};

namespace detail {

/// The bytes of a packet as 32-bit registers.
template <int Bytes>
struct [[gnu::may_alias]] alignas(Bytes) register_words {
  std::uint32_t w[Bytes / 4];
};

/// to = from. Packets of at least 4 bytes travel as 32-bit words, or the compiler would take the
/// registers of a fragment apart into its elements.
template <class T>
TW_HD constexpr void move_element(T const& from, T& to) {
  to = from;
}
template <class T, int N>
TW_HD inline void move_element(packet<T, N> const& from, packet<T, N>& to) {
  if constexpr (N * sizeof(T) >= 4) {
    using words = register_words<N * sizeof(T)>;
    reinterpret_cast<words&>(to) = reinterpret_cast<words const&>(from);
  } else {
    to = from;
  }
}

/// Longest run, a power of two up to `most`, that is contiguous and starts at multiples of its
/// length everywhere in l.
TW_HD constexpr i64 vector_run(layout const& l, i64 most) {
  bool used[max_leaves] = {};
  i64 covered = 1;  // elements of the leaves in the run
  i64 run = 1;
  for (bool found = true; found && run == covered;) {
    found = false;
    for (int i = 0; i < l.shape.n && !found; ++i) {
      num const n = l.shape.leaf[i];
      if (used[i] || n == num{1} || is_argument(n) || l.stride[i] != num{covered}) continue;
      used[i] = found = true;
      run *= lowest_bit(n.v);
      covered *= n.v;
    }
  }
  run = smaller(run, lowest_bit(most));
  for (int i = 0; i < l.shape.n; ++i) {
    if (used[i] || l.is_unit(i) || l.stride[i].v == 0) continue;
    run = smaller(run, lowest_bit(l.stride[i].v));
  }
  if (l.swizzled()) run = smaller(run, i64{1} << l.sw.base);
  return l.offset == 0 ? run : smaller(run, lowest_bit(l.offset));
}

/// upcast() for layouts of which vector_run is at least n; run-time leaves stay.
TW_HD constexpr layout in_packets(layout l, i64 n) {
  for (int i = 0; i < l.shape.n; ++i) {
    num& d = l.stride[i];
    if (l.is_unit(i) || d.v == 0) continue;
    if (d.unit == unit_none && d.v < n) {
      l.shape.leaf[i] = num{ceil_div(l.extent(i), n / d.v)};
      d = num{l.is_unit(i) ? 0 : 1};
    } else {
      d.v /= n;
    }
  }
  l.offset /= n;
  for (; n > 1 && l.swizzled(); n /= 2) --l.sw.base;
  return l;
}

template <class T, int N>
struct packet_of {
  using type = packet<T, N>;
};
template <class T, int N>
struct packet_of<T const, N> {
  using type = packet<T, N> const;
};

/// t with elements U, and their layout D.
template <class U, layout D, class T, layout L, space S>
TW_HD inline auto reinterpreted(tensor<T, L, S> const& t) {
  auto const rest = first_arguments<arguments_of(D)>(t.args);
  constexpr bool scaled = L.swizzled() && !tensor<T, L, S>::own_bits;  // off counts elements
  std::uint32_t const off =
      scaled ? t.off * std::uint32_t{sizeof(T)} / std::uint32_t{sizeof(U)} : t.off;
  using to = tensor<U, D, S.aligned(tensor<T, L, S>::align_bytes)>;
  return to{reinterpret_cast<U*>(t.data), off, rest};
}

}  // namespace detail

/// The tensor of packets of N elements.
template <int N, tensor_like V>
TW_HD inline auto vec(V&& v) {
  auto const t = v.view();
  using from = decltype(t);
  using element = typename from::element;
  constexpr i64 bytes = N * i64{sizeof(element)};
  static_assert(from::in_memory, "tensor memory and coordinates have no packets");
  static_assert(detail::need_vector_bytes(bytes, max_access_bytes));
  static_assert(detail::need_vector_run(detail::vector_run(from::map, N), N));
  static_assert(detail::need_alignment(from::align_bytes, bytes));
  using packets = typename detail::packet_of<element, N>::type;
  return detail::reinterpreted<packets, detail::in_packets(from::map, N)>(t);
}

/// The bytes of v as elements of another type. Wider elements need what vec needs.
template <class U, tensor_like V>
TW_HD inline auto recast(V&& v) {
  auto const t = v.view();
  using from = decltype(t);
  constexpr i64 old_bytes = sizeof(typename from::element);
  constexpr i64 new_bytes = sizeof(U);
  static_assert(from::in_memory, "tensor memory and coordinates are not recast");
  if constexpr (new_bytes > old_bytes) {
    constexpr i64 n = new_bytes / old_bytes;
    static_assert(n * old_bytes == new_bytes,
                  "recast between sizes of which one divides the other");
    static_assert(detail::need_vector_run(detail::vector_run(from::map, n), n));
    static_assert(detail::need_alignment(from::align_bytes, i64{alignof(U)}));
    return detail::reinterpreted<U, detail::in_packets(from::map, n)>(t);
  } else {
    return detail::reinterpreted<U, tw::recast(from::map, 8 * old_bytes, 8 * new_bytes)>(t);
  }
}

}  // namespace tw
