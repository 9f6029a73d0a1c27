// SPDX-License-Identifier: Apache-2.0
// num.hpp  One leaf of a shape, a stride or a coordinate: a 64-bit value times a unit.
//
// Units:    none            an ordinary integer, printed 4
//           basis path      one step along a coordinate, printed 1@0@1 (inner index first): the
//                           value 1 at position 0 of position 1. Strides of TMA coordinates.
//           any             the wildcard _ of a coordinate or a tiler: keep this mode
//           tile            a tiler's bare integer n, which tiles by n:1
//           argument        v * ceil(argument k / divisor), a number known at run time:
//           argument.hpp
// Needs:    products and sums that fit in 64 bits [TW0113]
// Example:  tests/layout/text_test.cpp "units"
#pragma once

#include <cstdint>

#include "tilewright/base/hd.hpp"
#include "tilewright/layout/rules.hpp"

namespace tw {

using i64 = std::int64_t;

/// Converts to an integer implicitly.
template <class T>
concept integer_like = requires(T const& t, void (&take)(i64)) {
  take(t);
};

inline constexpr std::uint32_t unit_none = 0;
inline constexpr std::uint32_t unit_tile = 1U << 29;
inline constexpr std::uint32_t unit_any = 1U << 30;
inline constexpr int max_path_depth = 7;   // indices in one basis path
inline constexpr int max_path_index = 14;  // largest index in a basis path

struct num {
  i64 v = 0;
  std::uint32_t unit = unit_none;  // a path has one nibble per level, index + 1, outermost lowest

  bool operator==(num const&) const = default;
};

/// The unit: the wildcard, a step along a coordinate, how many indices its path has.
TW_HD constexpr bool is_any(num a) { return a.unit == unit_any; }
TW_HD constexpr bool is_basis(num a) { return a.unit != 0 && a.unit < unit_tile; }
TW_HD constexpr int path_depth(std::uint32_t unit) {
  int n = 0;
  for (; unit != 0; unit >>= 4U) ++n;
  return n;
}
/// Index `level` of a path, 0 the outermost.
TW_HD constexpr int path_index(std::uint32_t unit, int level) {
  return static_cast<int>((unit >> (4 * level)) & 15U) - 1;
}

/// |a|, the smaller, the larger, the quotient rounded up (of positive numbers).
TW_HD constexpr i64 magnitude(i64 a) { return a < 0 ? -a : a; }
TW_HD constexpr i64 smaller(i64 a, i64 b) { return b < a ? b : a; }
TW_HD constexpr i64 larger(i64 a, i64 b) { return a < b ? b : a; }
TW_HD constexpr i64 ceil_div(i64 a, i64 b) { return a / b + (a % b != 0 ? 1 : 0); }

/// a * b, refused when it leaves 64 bits.
TW_HD constexpr i64 times(i64 a, i64 b) {
  constexpr i64 most = 0x7FFFFFFFFFFFFFFF;
  if (a == 0 || b == 0) return 0;
  if (((magnitude(a) | magnitude(b)) >> 31) != 0 && magnitude(a) > most / magnitude(b)) {
    refuse_overflow(a, b);
  }
  return a * b;
}

/// a + b, refused when it leaves 64 bits.
TW_HD constexpr i64 plus(i64 a, i64 b) {
  constexpr i64 most = 0x7FFFFFFFFFFFFFFF;
  if (b > 0 ? a > most - b : a < -most - b) refuse_overflow(a, b);
  return a + b;
}

/// k times a; zero has no unit.
TW_HD constexpr num times(num a, i64 k) {
  num const p{times(a.v, k), a.unit};
  return p.v == 0 ? num{} : p;
}

}  // namespace tw
