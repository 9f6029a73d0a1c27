// SPDX-License-Identifier: Apache-2.0
// units.hpp  Bits, bytes and elements as types that do not mix, and sizes that do not wrap.
//
// A count of one unit becomes another only by naming the element type: bytes_of(elem, elements),
// elements_in(elem, bytes). Used where sizes come from files; kernels carry the unit in the name.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// A count of Unit. Adds and compares with its own kind only; scales by a plain number.
template <class Unit>
struct quantity {
  std::int64_t count = 0;

  auto operator<=>(quantity const&) const = default;
  TW_HD constexpr quantity operator+(quantity o) const { return {count + o.count}; }
  TW_HD constexpr quantity operator-(quantity o) const { return {count - o.count}; }
  TW_HD constexpr quantity operator*(std::int64_t n) const { return {count * n}; }
};
using bits = quantity<struct bit_unit>;
using bytes = quantity<struct byte_unit>;
using elements = quantity<struct element_unit>;

TW_HD constexpr bits bits_of(elem e, elements n) { return {n.count * size_bits(e)}; }
/// Elements below 8 bits are packed; the last byte may have room.
TW_HD constexpr bytes bytes_of(elem e, elements n) {
  return {size_bits(e) >= 8 ? n.count * size_bytes(e) : (n.count * size_bits(e) + 7) / 8};
}

/// Whole elements that fit.
TW_HD constexpr elements elements_in(elem e, bytes n) {
  return {size_bits(e) >= 8 ? n.count / size_bytes(e) : n.count * 8 / size_bits(e)};
}

/// Elements and bytes of a matrix, or nothing when an extent is negative or a count leaves 63 bits.
constexpr std::optional<elements> checked_elements(std::int64_t rows, std::int64_t cols) {
  std::int64_t n = 0;
  if (rows < 0 || cols < 0 || __builtin_mul_overflow(rows, cols, &n)) return std::nullopt;
  return elements{n};
}
constexpr std::optional<bytes> checked_bytes(elem e, std::int64_t rows, std::int64_t cols) {
  std::int64_t n = 0;
  auto const count = checked_elements(rows, cols);
  if (!count || __builtin_mul_overflow(count->count, std::int64_t{size_bytes(e)}, &n)) {
    return std::nullopt;
  }
  return bytes{n};
}

}  // namespace tw
