// SPDX-License-Identifier: Apache-2.0
// atomic_operand.hpp  The types that atomic operations take, checked when a kernel is compiled: a
//                     value never changes its type on the way.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tilewright/arch/packed.hpp"
#include "tilewright/base/hd.hpp"

namespace tw::detail {

enum class atomic_type : std::uint8_t { u32, s32, u64, s64, f32, f64, f16x2, bf16x2, other };

template <class T>
TW_HD constexpr atomic_type atomic_type_of() {
  if constexpr (std::is_same_v<T, float>) return atomic_type::f32;
  if constexpr (std::is_same_v<T, double>) return atomic_type::f64;
  if constexpr (std::is_same_v<T, f16x2>) return atomic_type::f16x2;
  if constexpr (std::is_same_v<T, bf16x2>) return atomic_type::bf16x2;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return std::is_signed_v<T> ? atomic_type::s32 : atomic_type::u32;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return std::is_signed_v<T> ? atomic_type::s64 : atomic_type::u64;
  return atomic_type::other;
}

/// A word that is loaded, stored, exchanged or compared: 4 or 8 bytes of any type.
template <class T>
TW_HD constexpr void check_atomic_word() {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "[TW0262] an atomic word has 4 or 8 bytes and is trivially copyable");
}
/// A word that is added to.
template <class T>
TW_HD constexpr void check_atomic_sum() {
  static_assert(atomic_type_of<T>() != atomic_type::other,
                "[TW0262] an atomic sum is an integer of 4 or 8 bytes, float, double, f16x2 or "
                "bf16x2");
}
/// A word of which the minimum or maximum is taken, or that is combined bit by bit.
template <class T>
TW_HD constexpr void check_atomic_integer() {
  static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "[TW0262] this atomic operation takes integers of 4 or 8 bytes");
}

/// The value, of the word's type. An integer may be given for an integer that is as wide or wider.
template <class T, class U>
TW_HD constexpr T atomic_value(U value) {
  static_assert(std::is_same_v<T, U> ||
                    (std::is_integral_v<T> && std::is_integral_v<U> && sizeof(U) <= sizeof(T)),
                "[TW0263] the value of an atomic operation has the type of the word in memory, or "
                "both are integers and the value is not wider");
  return static_cast<T>(value);
}

/// The bits of a word of 4 or 8 bytes, and back.
template <class T>
TW_HD auto bits_of_word(T value) {
  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> bits;
  __builtin_memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T, class Bits>
TW_HD T word_of_bits(Bits bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace tw::detail
