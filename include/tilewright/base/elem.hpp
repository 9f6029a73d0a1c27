// SPDX-License-Identifier: Apache-2.0
// elem.hpp  Element types: their names, their sizes, and the structs that hold one.
// Conversions to and from float are in convert.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tilewright/base/hd.hpp"

namespace tw {

/// The element types that Tilewright has names for.
enum class elem : std::uint8_t {
  f32,
  tf32,
  f16,
  bf16,
  e4m3,
  e5m2,
  s32,
  s8,
  u8,
  e2m3,
  e3m2,
  e2m1,
  ue8m0,
  ue4m3
};
inline constexpr int elem_count = 14;

/// Properties of an element type that need no other header.
struct elem_row {
  char const* name;  // PTX's
  /// Of the format itself. Elements below 8 bits are packed in memory or padded to a byte: that is
  /// a property of the tensor.
  int bits;
  bool integer;
};

TW_HD constexpr elem_row elem_row_of(elem e) {
  switch (e) {
    case elem::f32: return {"f32", 32, false};
    case elem::tf32: return {"tf32", 32, false};
    case elem::f16: return {"f16", 16, false};
    case elem::bf16: return {"bf16", 16, false};
    case elem::e4m3: return {"e4m3", 8, false};
    case elem::e5m2: return {"e5m2", 8, false};
    case elem::s32: return {"s32", 32, true};
    case elem::s8: return {"s8", 8, true};
    case elem::u8: return {"u8", 8, true};
    case elem::e2m3: return {"e2m3", 6, false};
    case elem::e3m2: return {"e3m2", 6, false};
    case elem::e2m1: return {"e2m1", 4, false};
    case elem::ue8m0: return {"ue8m0", 8, false};
    case elem::ue4m3: return {"ue4m3", 8, false};
  }
  return {"?", 0, false};
}

TW_HD constexpr int size_bits(elem e) { return elem_row_of(e).bits; }
/// Whole bytes of one element; 0 below 8 bits.
TW_HD constexpr int size_bytes(elem e) { return size_bits(e) / 8; }
TW_HD constexpr bool is_integer(elem e) { return elem_row_of(e).integer; }
TW_HD constexpr char const* name(elem e) { return elem_row_of(e).name; }

struct tf32 {  // 1 sign, 8 exponent, 10 mantissa bits in the upper part of 32
  std::uint32_t bits;
  bool operator==(tf32 const&) const = default;
};
struct f16 {  // 1, 5, 10
  std::uint16_t bits;
  bool operator==(f16 const&) const = default;
};
struct bf16 {  // 1, 8, 7: the upper half of a float
  std::uint16_t bits;
  bool operator==(bf16 const&) const = default;
};
struct e4m3 {  // 1, 4, 3: no infinity, the all-ones pattern is NaN
  std::uint8_t bits;
  bool operator==(e4m3 const&) const = default;
};
struct e5m2 {  // 1, 5, 2
  std::uint8_t bits;
  bool operator==(e5m2 const&) const = default;
};
// The formats below 8 bits in the low bits of a byte; PTX ISA, "Alternate Floating-Point Data
// Formats". They have neither infinity nor NaN.
struct e2m3 {  // 1, 2, 3
  std::uint8_t bits;
  bool operator==(e2m3 const&) const = default;
};
struct e3m2 {  // 1, 3, 2
  std::uint8_t bits;
  bool operator==(e3m2 const&) const = default;
};
struct e2m1 {  // 1, 2, 1
  std::uint8_t bits;
  bool operator==(e2m1 const&) const = default;
};
struct ue8m0 {  // 2^(bits - 127); 0xFF is NaN
  std::uint8_t bits;
  bool operator==(ue8m0 const&) const = default;
};
struct ue4m3 {  // e4m3 without a sign: 7 bits
  std::uint8_t bits;
  bool operator==(ue4m3 const&) const = default;
};

namespace detail {
template <elem E, class T>
struct held_as {};
template <class Numbers, class... T>
struct held_list;
template <std::size_t... I, class... T>
struct held_list<std::index_sequence<I...>, T...> : held_as<static_cast<elem>(I), T>... {
  static_assert(sizeof...(T) == elem_count);
};

/// The types that hold one element, in the order of `elem`.
using held_elements =
    held_list<std::make_index_sequence<elem_count>, float, tf32, f16, bf16, e4m3, e5m2,
              std::int32_t, std::int8_t, std::uint8_t, e2m3, e3m2, e2m1, ue8m0, ue4m3>;

template <elem E, class T>
std::type_identity<T> type_held(held_as<E, T>);
template <class T, elem E>
std::integral_constant<elem, E> elem_held(held_as<E, T>);
}  // namespace detail

/// The name of a storage type: elem_of<bf16> == elem::bf16, elem_of<float> == elem::f32.
template <class T>
inline constexpr elem elem_of =
    decltype(detail::elem_held<T>(std::declval<detail::held_elements>()))::value;

/// The type that holds an element: storage_of<elem::f32> is float.
template <elem E>
using storage_of =
    typename decltype(detail::type_held<E>(std::declval<detail::held_elements>()))::type;

/// An element type as an argument: `value` is its name, `type` holds an element.
template <elem E>
struct elem_constant {
  static constexpr elem value = E;
  using type = storage_of<E>;
};

/// f(elem_constant of e): how code with a type known at run time calls code for each type.
template <int First = 0, class F>
TW_HD constexpr decltype(auto) with_elem(elem e, F const& f) {
  if constexpr (First + 1 < elem_count)
    if (static_cast<int>(e) != First) return with_elem<First + 1>(e, f);
  return f(elem_constant<static_cast<elem>(First)>{});
}

}  // namespace tw
