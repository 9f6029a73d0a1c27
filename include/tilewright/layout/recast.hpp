// SPDX-License-Identifier: Apache-2.0
// recast.hpp  One memory, counted in wider or narrower elements.
//
//     upcast(L, n)      n old elements become one:   upcast((8,4):(4,1), 2) == (8,2):(2,1)
//     downcast(L, n)    one old element becomes n:   downcast((8,2):(2,1), 2) == (8,4):(4,1)
//
// Law:      the offsets of upcast(L, n) are those of L divided by n, cells of one element once;
//           upcast(downcast(L, n), n) is L's function
// Run time: upcast divides run-time strides by n where their factor is a multiple of n [TW0132]:
//           say 8$0 for a pitch that is a multiple of 8
// Needs:    every stride divides n or is divided by it [TW0126], the small ones together stay
// inside
//           one wide element [TW0128]; downcast: exactly one leaf of
//           stride 1 and extent above 1, whose elements are adjacent [TW0127]
// Example:  tests/layout/recast_test.cpp
#pragma once

#include "tilewright/layout/evaluate.hpp"

namespace tw {

namespace detail {

/// Binary logarithm of the number of elements that become one.
TW_HD constexpr int power_of_two(i64 n) {
  if (n < 1) refuse_extent(n, 1);
  int log = 0;
  for (; n > 1; n /= 2) {
    if (n % 2 != 0) refuse_upcast(n, 2);
    ++log;
  }
  return log;
}

/// Greatest number of bits that both kinds of elements are multiples of.
TW_HD constexpr i64 common_bits(i64 from_bits, i64 to_bits) {
  if (from_bits < 1 || to_bits < 1) refuse_extent(smaller(from_bits, to_bits), 1);
  while (to_bits != 0) {
    i64 const r = from_bits % to_bits;
    from_bits = to_bits;
    to_bits = r;
  }
  return from_bits;
}

}  // namespace detail

/// The swizzle s of memory, offsets counted in elements n times as wide; n a power of two
/// [TW0126]. Bits inside the wide element are no longer swizzled.
TW_HD constexpr swizzle upcast(swizzle s, i64 n) {
  int const low = s.base - detail::power_of_two(n);  // bits below the swizzle that are left
  int const lost = low < 0 ? -low : 0;
  return {s.bits > lost ? s.bits - lost : 0, low < 0 ? 0 : low, s.shift};
}
/// Counted in elements that n of make an old one.
TW_HD constexpr swizzle downcast(swizzle s, i64 n) {
  return make_swizzle(s.bits, s.base + detail::power_of_two(n), s.shift);
}
/// From elements of `from_bits` to elements of `to_bits`: recast(Sw<3,4,3>, 8, 16) == Sw<3,3,3>.
TW_HD constexpr swizzle recast(swizzle s, i64 from_bits, i64 to_bits) {
  i64 const unit = detail::common_bits(from_bits, to_bits);
  return upcast(downcast(s, from_bits / unit), to_bits / unit);
}

TW_HD constexpr layout upcast(layout l, i64 n) {
  if (n < 1) refuse_extent(n, 1);
  i64 inside = 0;  // largest distance of a cell from the beginning of its wide element
  for (int i = 0; i < l.shape.n; ++i) {
    if (is_basis(l.stride[i])) refuse_stride(l.stride[i].v, 1);
    i64 const d = magnitude(l.stride[i].v);
    if (d == 0) continue;
    if (d % n == 0) {
      l.stride[i].v /= n;
      continue;
    }
    if (is_argument(l.stride[i])) refuse_argument_division(d, n);
    if (n % d != 0) refuse_upcast(d, n);
    num const extent = l.shape.leaf[i];  // where it is known at run time, it may reach everywhere
    inside += ((is_argument(extent) ? n / d : smaller(extent.v, n / d)) - 1) * d;
    if (inside >= n) refuse_upcast_carry(inside, n);
    l.shape.leaf[i] = ceil_div(extent, n / d);
    l.stride[i].v = l.stride[i].v < 0 ? -1 : 1;
  }
  if (!l.swizzled() && l.offset == 0) return l;
  if (l.offset % n != 0 || (n & (n - 1)) != 0) refuse_upcast(l.offset, n);
  l.offset /= n;
  int low = l.sw.base;  // bits below the swizzle that are left
  for (; n > 1; n /= 2) low -= 1;
  int const lost = low < 0 ? -low : 0;
  l.sw = {l.sw.bits > lost ? l.sw.bits - lost : 0, low < 0 ? 0 : low, l.sw.shift};
  if (is_identity(l.sw)) l.sw = {};
  return l;
}

TW_HD constexpr layout downcast(layout l, i64 n) {
  if (n < 1) refuse_extent(n, 1);
  int adjacent = 0;  // leaves of stride 1, and the one to widen: the one with extent above 1
  int widened = -1;
  for (int i = 0; i < l.shape.n; ++i) {
    if (is_basis(l.stride[i])) refuse_stride(l.stride[i].v, 1);
    if (is_argument(l.stride[i]) || magnitude(l.stride[i].v) != 1) {
      l.stride[i] = times(l.stride[i], n);
    } else if (!l.is_unit(i) || widened < 0) {
      adjacent += l.is_unit(i) ? 0 : 1;
      widened = i;
    }
  }
  if (n > 1 && (widened < 0 || adjacent > 1)) refuse_downcast(adjacent, 1);
  if (widened >= 0) l.shape.leaf[widened] = times(l.shape.leaf[widened], n);
  l.offset = times(l.offset, n);
  if (!l.swizzled()) return l;
  for (; n > 1; n /= 2) {
    if (n % 2 != 0) refuse_upcast(n, 2);
    l.sw.base += 1;
  }
  return l;
}

/// From elements of `from_bits` to elements of `to_bits`.
TW_HD constexpr layout recast(layout const& l, i64 from_bits, i64 to_bits) {
  i64 const unit = detail::common_bits(from_bits, to_bits);
  return upcast(downcast(l, from_bits / unit), to_bits / unit);
}

}  // namespace tw
