// SPDX-License-Identifier: Apache-2.0
// elem.hpp  Element types: their names, their sizes, and the structs that hold one.
// Conversions to and from float are in convert.hpp.
#pragma once

#include <cstdint>

#include "tilewright/base/hd.hpp"

namespace tw {

/// The element types that Tilewright has names for.
enum class elem : std::uint8_t { f32, tf32, f16, bf16, e4m3, e5m2 };

/// Bits an element occupies in memory (tf32 lives in 32).
TW_HD constexpr int size_bits(elem e) {
  return e == elem::f32 || e == elem::tf32 ? 32 : e == elem::f16 || e == elem::bf16 ? 16 : 8;
}
TW_HD constexpr int size_bytes(elem e) { return size_bits(e) / 8; }

/// The name as the command line, plans and kernel names write it.
TW_HD constexpr char const* name(elem e) {
  switch (e) {
    case elem::f32: return "f32";
    case elem::tf32: return "tf32";
    case elem::f16: return "f16";
    case elem::bf16: return "bf16";
    case elem::e4m3: return "e4m3";
    case elem::e5m2: return "e5m2";
  }
  return "?";
}

/// One element in memory. f32 is float itself.
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

namespace detail {
template <class T>
struct elem_of;
template <>
struct elem_of<float> {
  static constexpr elem value = elem::f32;
};
template <>
struct elem_of<tf32> {
  static constexpr elem value = elem::tf32;
};
template <>
struct elem_of<f16> {
  static constexpr elem value = elem::f16;
};
template <>
struct elem_of<bf16> {
  static constexpr elem value = elem::bf16;
};
template <>
struct elem_of<e4m3> {
  static constexpr elem value = elem::e4m3;
};
template <>
struct elem_of<e5m2> {
  static constexpr elem value = elem::e5m2;
};
}  // namespace detail

/// The name of a storage type: elem_of<bf16> == elem::bf16, elem_of<float> == elem::f32.
template <class T>
inline constexpr elem elem_of = detail::elem_of<T>::value;

}  // namespace tw
