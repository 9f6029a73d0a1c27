// SPDX-License-Identifier: Apache-2.0
// lane_value.hpp  The types whose values the lanes of a warp give each other, and their bits.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tilewright/base/hd.hpp"

namespace tw::detail {

/// Registers of 32 bits that a lane's value fills.
template <class T>
inline constexpr int lane_words = sizeof(T) <= 4 ? 1 : 2;

/// The bits of a value, in words; those beyond its size are 0.
template <class T>
struct lane_bits {
  static_assert(
      std::is_trivially_copyable_v<T> &&
          (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8),
      "[TW0260] a shuffle moves values of 1, 2, 4 or 8 bytes that are trivially copyable");
  std::uint32_t word[lane_words<T>] = {};

  TW_HD explicit lane_bits(T const& x) { __builtin_memcpy(word, &x, sizeof(T)); }
  TW_HD T value() const {
    T x;
    __builtin_memcpy(&x, word, sizeof(T));
    return x;
  }
};

/// A type that redux takes.
template <class T>
inline constexpr bool is_redux_type =
    std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::uint32_t>;

}  // namespace tw::detail
