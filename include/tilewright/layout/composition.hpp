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
//           does not check]; strides of B are integers >= 0 [TW0107]. The last extent of A does not
//           bound: indices beyond size(A) extend the last mode.
// Tilers:   a tuple composes mode by mode and drops the modes it does not name; _ keeps a mode; an
//           integer n is n:1.
// Example:  tests/layout/composition_test.cpp
#pragma once

#include "tilewright/layout/coalesce.hpp"
#include "tilewright/layout/tiler.hpp"

namespace tw {

namespace detail {

/// How far the leaves of B seen so far reach into each extent of A.
struct reach_of {
  i64 digit[max_leaves] = {};
};

/// The leaf n:d of B, through A. Adds to `reach`.
TW_HD constexpr layout compose_leaf(flat_layout const& a, i64 n, num step, reach_of& reach) {
  if (n == 1 || step.v == 0) return {n, 0};
  if (step.unit != unit_none) refuse_inner_stride(step.v, 1);
  if (step.v < 0) refuse_inner_stride(step.v, 0);
  layout piece;
  i64 d = step.v;
  for (int k = 0; k + 1 < a.n; ++k) {
    i64 const s = a.extent[k];
    if (d < s && d <= (s - 1) / (n - 1)) {  // stays inside this extent
      append(piece, n, times(a.stride[k], d));
      reach.digit[k] = plus(reach.digit[k], d * (n - 1));
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
    append(piece, part, times(a.stride[k], d));
    reach.digit[k] = plus(reach.digit[k], s - d);
    n /= part;
    d = 1;
  }
  append(piece, n, times(a.stride[a.n - 1], d));
  return close_piece(piece);
}

}  // namespace detail

TW_HD constexpr layout composition(layout const& a, layout const& b) {
  if (b.swizzled()) refuse_swizzled(b.sw.bits, 0);
  detail::flat_layout const f = detail::merge(a, {0, a.shape.n}, true);
  detail::reach_of reach;
  layout out;
  for (int i = 0; i < b.shape.n; ++i) {
    layout piece = detail::compose_leaf(f, b.extent(i), b.stride[i], reach);
    detail::add_open(piece.shape, 0, b.shape.opened(i));
    detail::add_close(piece.shape, piece.shape.n - 1, b.shape.closed(i));
    detail::append(out, piece);
  }
  for (int k = 0; k + 1 < f.n; ++k) {
    if (reach.digit[k] >= f.extent[k]) refuse_carry(reach.digit[k], f.extent[k]);
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
