// SPDX-License-Identifier: Apache-2.0
// bits.hpp  Layouts that move whole bits: extents and strides are powers of two, no bit overlaps
// another.
//
// For such a layout A, A(x ^ y) == A(x) ^ A(y): a swizzle can be moved from one side to the other,
// A(s(x)) == s'(A(x)), where s' reads and changes the bits to which A moves those of s.
// Needs:    bits that stay neighbours in their order, inside size(A) [TW0116]
// Example:  tests/layout/swizzle_test.cpp "moved"
#pragma once

#include "tilewright/layout/value.hpp"

namespace tw {

/// The offset bits that l sets, or -1 where l is no such layout, or is not known to be.
TW_HD constexpr i64 moved_bits(layout const& l) {
  i64 bits = 0;
  for (int i = 0; i < l.shape.n; ++i) {
    if (is_argument(l.shape.leaf[i]) || is_argument(l.stride[i])) return -1;
    i64 const n = l.extent(i);
    i64 const d = l.stride[i].v;
    if (n == 1 || d == 0) continue;
    i64 const mine = times(n - 1, d);
    if ((n & (n - 1)) != 0 || d < 0 || (d & (d - 1)) != 0 || (bits & mine) != 0) return -1;
    bits |= mine;
  }
  return bits;
}

namespace detail {

/// The offset of a set of index bits.
TW_HD constexpr i64 moved(layout const& l, i64 bits) {
  i64 offset = 0;
  for (int i = 0; i < l.shape.n; ++i) {
    offset |= (bits & (l.extent(i) - 1)) * l.stride[i].v;
    bits /= l.extent(i);
  }
  return offset;
}

}  // namespace detail

/// s' with l(s(x)) == s'(l(x)) for x < size(l).
TW_HD constexpr swizzle moved_swizzle(swizzle s, layout const& l) {
  if (is_identity(s)) return {};
  bool const whole = moved_bits(l) >= 0 && s.y_mask() < size(l) && s.z_mask() < size(l);
  if (!whole) refuse_swizzled(s.bits, 0);
  i64 const reads = detail::moved(l, s.y_mask());
  i64 const changes = detail::moved(l, s.z_mask());
  swizzle const moved = make_swizzle_of_masks(reads, changes);
  for (int k = 0; k < s.bits; ++k) {  // bit by bit in the same order
    i64 const y = i64{1} << (s.base + (s.shift > 0 ? s.shift : 0) + k);
    if (moved(detail::moved(l, y)) != (detail::moved(l, y) | detail::moved(l, s(y) ^ y))) {
      refuse_swizzled(s.bits, 0);
    }
  }
  return moved;
}

}  // namespace tw
