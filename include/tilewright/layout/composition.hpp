// SPDX-License-Identifier: Apache-2.0
// composition.hpp  R = composition(A, B): A read in the order that B says.
//
//     (4,8):(8,1) o 4:2  ==  (2,2):(16,1)     B visits 0 2 4 6; A sends them to 0 16 1 17
//
// Law:      R(c) == A(B(c)) for every c in B; compatible(shape(B), shape(R)); size(R) == size(B)
// How:      A, merged, is a number system: an index is written in digits of A's extents. A leaf
//           n:d of B counts in steps of d; it becomes one leaf for each digit that it moves.
// Needs:    each leaf of B divides A's extents or is divided by them, as far as it reaches
//           [TW0104, TW0105]; all leaves of B together stay inside A's extents, or the sum would
//           carry from one digit into the next and no layout could say it [TW0106, which CuTe
//           does not check]; strides of B of one sign [TW0107]. The last extent of A does not
//           bound: indices beyond size(A) extend the last mode.
// Basis:    a stride v@i@j of B steps in position i of A's mode j
// Swizzles: A's stays outside; B's moves through A where A moves whole bits (bits.hpp) [TW0116]
// Tilers:   a tuple composes mode by mode and drops the modes it does not name; _ keeps a mode; an
//           integer n is n:1.
// Example:  tests/layout/composition_test.cpp
#pragma once

#include "tilewright/layout/bits.hpp"
#include "tilewright/layout/coalesce.hpp"
#include "tilewright/layout/evaluate.hpp"
#include "tilewright/layout/tiler.hpp"

namespace tw {

namespace detail {

/// The leaf n:d of B, through A. Adds to `reach` how far it goes inside each extent of A.
TW_HD constexpr layout compose_leaf(flat_layout const& a, i64 n, i64 step, i64* reach) {
  if (n == 1 || step == 0) return {n, 0};
  layout piece;
  i64 const sign = step < 0 ? -1 : 1;  // A(-i) == -A(i)
  i64 d = magnitude(step);
  for (int k = 0; k + 1 < a.n; ++k) {
    i64 const s = a.extent[k];
    if (d < s && d <= (s - 1) / (n - 1)) {  // stays inside this extent
      append(piece, n, times(a.stride[k], sign * d));
      reach[k] = plus(reach[k], d * (n - 1));
      return close_piece(piece);
    }
    if (d >= s) {
      if (d % s != 0) refuse_stride_split(d, s);
      d /= s;
      continue;
    }
    if (s % d != 0) refuse_stride_split(d, s);
    i64 const part = s / d;
    if (n % part != 0) refuse_shape_split(n, part);
    append(piece, part, times(a.stride[k], sign * d));
    reach[k] = plus(reach[k], s - d);
    n /= part;
    d = 1;
  }
  append(piece, n, times(a.stride[a.n - 1], sign * d));
  return close_piece(piece);
}

/// The mode of l at the end of a path; the whole of l for no path.
TW_HD constexpr layout mode_at(layout l, std::uint32_t path) {
  for (int k = 0, n = path_depth(path); k < n; ++k) l = mode(l, path_index(path, k));
  return l;
}

/// One of the paths leads through the mode at the end of the other.
TW_HD constexpr bool overlap(std::uint32_t a, std::uint32_t b) {
  int const levels = static_cast<int>(smaller(path_depth(a), path_depth(b)));
  return levels == 0 || ((a ^ b) << (32 - 4 * levels)) == 0;
}

}  // namespace detail

TW_HD constexpr layout composition(layout const& a, layout const& b) {
  if (b.swizzled()) {  // A o s o B == s' o A o B where A moves whole bits
    bool const inside = b.offset == 0 && cosize(plain(b)) <= size(a);
    if (a.swizzled() || !inside) refuse_swizzled(b.sw.bits, 0);
    return swizzled(moved_swizzle(b.sw, a), composition(a, plain(b)));
  }
  if (a.shape.n == 0) refuse_nesting(0, 1);
  i64 reach[max_leaves][max_leaves] = {};  // by the first leaf of B in the same mode of A, by digit
  i64 first_step = 0;
  std::uint32_t path = unit_none;
  detail::flat_layout f = detail::merge(a, {0, a.shape.n}, true);
  layout out;
  for (int i = 0; i < b.shape.n; ++i) {
    num const d = b.extent(i) == 1 ? num{} : b.stride[i];
    int same = i;  // the first leaf with the same path
    for (int j = i; d.v != 0 && j-- > 0;) {
      if (b.extent(j) == 1 || b.stride[j].v == 0) continue;
      if (b.stride[j].unit == d.unit) {
        same = j;
      } else if (detail::overlap(b.stride[j].unit, d.unit)) {
        refuse_inner_stride(d.v, 1);
      }
    }
    if (d.v != 0 && first_step == 0) first_step = d.v;
    if ((first_step < 0 && d.v > 0) || (first_step > 0 && d.v < 0)) refuse_inner_stride(d.v, 0);
    if (d.v != 0 && d.unit != path) {
      layout const part = detail::mode_at(a, d.unit);
      f = detail::merge(part, {0, part.shape.n}, true);
      path = d.unit;
    }
    layout piece = detail::compose_leaf(f, b.extent(i), d.v, reach[same]);
    for (int k = 0; k + 1 < f.n; ++k) {
      if (reach[same][k] >= f.extent[k]) refuse_carry(reach[same][k], f.extent[k]);
    }
    detail::add_open(piece.shape, 0, b.shape.opened(i));
    detail::add_close(piece.shape, piece.shape.n - 1, b.shape.closed(i));
    detail::append(out, piece);
  }
  return swizzled_as(out, a);
}

TW_HD constexpr layout composition(layout const& a, tiler const& t) {
  if (t.keeps()) return a;
  if (!t.by_mode()) return composition(a, as_layout(t));
  if (rank(t) > rank(a)) refuse_tiler_rank(rank(t), rank(a));
  layout out;
  for (int i = 0; i < rank(t); ++i) detail::append(out, composition(mode(a, i), mode(t, i)));
  detail::wrap(out);
  return swizzled_as(out, a);
}

TW_HD constexpr layout composition(layout const& a, i64 n) { return composition(a, layout(n, 1)); }

}  // namespace tw
