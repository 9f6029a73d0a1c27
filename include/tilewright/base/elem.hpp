// SPDX-License-Identifier: Apache-2.0
// elem.hpp  Element types: their names, their sizes, and the structs that hold one.
// Conversions to and from float are in convert.hpp.
#pragma once

#include <cstdint>

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

/// Bits an element occupies in memory (tf32 lives in 32).
/// Bits of the format itself. Formats below 8 bits are packed in memory or padded to a byte: that
/// is a property of the tensor.
TW_HD constexpr int size_bits(elem e) {
  switch (e) {
    case elem::f32:
    case elem::tf32:
    case elem::s32: return 32;
    case elem::f16:
    case elem::bf16: return 16;
    case elem::e4m3:
    case elem::e5m2:
    case elem::s8:
    case elem::u8:
    case elem::ue8m0:
    case elem::ue4m3: return 8;
    case elem::e2m3:
    case elem::e3m2: return 6;
    case elem::e2m1: return 4;
  }
  return 0;
}
/// Whole bytes of one element; 0 below 8 bits.
TW_HD constexpr int size_bytes(elem e) { return size_bits(e) / 8; }

TW_HD constexpr bool is_integer(elem e) { return e == elem::s32 || e == elem::s8 || e == elem::u8; }

TW_HD constexpr char const* name(elem e) {
  switch (e) {
    case elem::f32: return "f32";
    case elem::tf32: return "tf32";
    case elem::f16: return "f16";
    case elem::bf16: return "bf16";
    case elem::e4m3: return "e4m3";
    case elem::e5m2: return "e5m2";
    case elem::s32: return "s32";
    case elem::s8: return "s8";
    case elem::u8: return "u8";
    case elem::e2m3: return "e2m3";
    case elem::e3m2: return "e3m2";
    case elem::e2m1: return "e2m1";
    case elem::ue8m0: return "ue8m0";
    case elem::ue4m3: return "ue4m3";
  }
  return "?";
}

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
template <>
struct elem_of<std::int32_t> {
  static constexpr elem value = elem::s32;
};
template <>
struct elem_of<std::int8_t> {
  static constexpr elem value = elem::s8;
};
template <>
struct elem_of<std::uint8_t> {
  static constexpr elem value = elem::u8;
};
template <>
struct elem_of<e2m3> {
  static constexpr elem value = elem::e2m3;
};
template <>
struct elem_of<e3m2> {
  static constexpr elem value = elem::e3m2;
};
template <>
struct elem_of<e2m1> {
  static constexpr elem value = elem::e2m1;
};
template <>
struct elem_of<ue8m0> {
  static constexpr elem value = elem::ue8m0;
};
template <>
struct elem_of<ue4m3> {
  static constexpr elem value = elem::ue4m3;
};
}  // namespace detail

/// The name of a storage type: elem_of<bf16> == elem::bf16, elem_of<float> == elem::f32.
template <class T>
inline constexpr elem elem_of = detail::elem_of<T>::value;

}  // namespace tw
