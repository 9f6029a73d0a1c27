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
// Run time: an extent of A that is known at run time is taken whole or not at all, or is the last
//           one: anything else depends on its value [TW0131]
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

/// How far the leaves of B go inside one extent of A: fixed + per * the extent's run-time value.
struct inside_extent {
  i64 fixed = 0;
  i64 per = 0;
  TW_HD constexpr void add(i64 f, i64 p) {
    fixed = plus(fixed, f);
    per = plus(per, p);
  }
};

/// Steps of d, n of them, stay inside the extent s for every value of the arguments.
TW_HD constexpr bool stays_inside(num n, num d, num s) {
  if (is_argument(n)) return n.unit == s.unit && !is_argument(d) && d.v <= s.v / n.v;
  if (is_argument(d)) return d.unit == s.unit && n.v - 1 <= (s.v - 1) / d.v;
  return d.v < least(s) && d.v <= (least(s) - 1) / (n.v - 1);
}

/// d and s do not divide: both are numbers, or it depends on an argument.
TW_HD constexpr void refuse_split(num d, num s) {
  if (is_argument(d)) refuse_argument_extent(s.v, argument_index(d));
  if (is_argument(s)) refuse_argument_extent(d.v, argument_index(s));
}

/// The leaf n:step of B, through A. Adds to `reach` how far it goes inside each extent of A.
TW_HD constexpr layout compose_leaf(flat_layout const& a, num n, num step, inside_extent* reach) {
  if (n == num{1} || step == num{}) return {n, num{}};
  layout piece;
  i64 const sign = step.v < 0 ? -1 : 1;  // A(-i) == -A(i)
  num d{magnitude(step.v), step.unit};
  for (int k = 0; k + 1 < a.n; ++k) {
    num const s = a.extent[k];
    if (stays_inside(n, d, s)) {
      append(piece, n, times(a.stride[k], times(d, sign)));
      if (is_argument(n)) {
        reach[k].add(-d.v, d.v * n.v);
      } else {
        reach[k].add(is_argument(d) ? 0 : d.v * (n.v - 1), is_argument(d) ? d.v * (n.v - 1) : 0);
      }
      return close_piece(piece);
    }
    if (quotient const q = divided(d, s); q.exact) {
      d = q.value;
      continue;
    }
    quotient const part = divided(s, d);
    if (!part.exact) {
      refuse_split(d, s);
      refuse_stride_split(d.v, s.v);
    }
    quotient const rest = divided(n, part.value);
    if (!rest.exact) {
      refuse_split(n, part.value);
      refuse_shape_split(n.v, part.value.v);
    }
    append(piece, part.value, times(a.stride[k], times(d, sign)));
    reach[k].add(is_argument(s) ? 0 : s.v, is_argument(s) ? s.v : 0);
    reach[k].add(is_argument(d) ? 0 : -d.v, is_argument(d) ? -d.v : 0);
    n = rest.value;
    d = num{1};
  }
  append(piece, n, times(a.stride[a.n - 1], times(d, sign)));
  return close_piece(piece);
}

/// All leaves of B together must stay inside the extent s.
TW_HD constexpr void check_reach(inside_extent r, num s) {
  if (!is_argument(s)) {
    if (r.fixed >= s.v) refuse_carry(r.fixed, s.v);
  } else if (r.per > s.v || r.fixed >= s.v - r.per) {
    refuse_argument_extent(r.fixed, argument_index(s));
  }
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
    bool const inside = b.offset == 0 && cosize(linear_part(b)) <= size(a);
    if (a.swizzled() || !inside) refuse_swizzled(b.sw.bits, 0);
    return swizzled(moved_swizzle(b.sw, a), composition(a, linear_part(b)));
  }
  if (a.shape.n == 0) refuse_nesting(0, 1);
  // by the first leaf of B in the same mode of A, by digit
  detail::inside_extent reach[max_leaves][max_leaves] = {};
  i64 first_step = 0;
  std::uint32_t path = unit_none;
  detail::flat_layout f = detail::merge(a, {0, a.shape.n}, true);
  layout out;
  for (int i = 0; i < b.shape.n; ++i) {
    num const d = b.is_unit(i) ? num{} : b.stride[i];
    std::uint32_t const here = basis_path(d);
    int same = i;  // the first leaf with the same path
    for (int j = i; d.v != 0 && j-- > 0;) {
      if (b.is_unit(j) || b.stride[j].v == 0) continue;
      if (basis_path(b.stride[j]) == here) {
        same = j;
      } else if (detail::overlap(basis_path(b.stride[j]), here)) {
        refuse_inner_stride(d.v, 1);
      }
    }
    if (d.v != 0 && first_step == 0) first_step = d.v;
    if ((first_step < 0 && d.v > 0) || (first_step > 0 && d.v < 0)) refuse_inner_stride(d.v, 0);
    if (d.v != 0 && here != path) {
      layout const part = detail::mode_at(a, here);
      f = detail::merge(part, {0, part.shape.n}, true);
      path = here;
    }
    num const step = is_argument(d) ? d : num{d.v};
    layout piece = detail::compose_leaf(f, b.shape.leaf[i], step, reach[same]);
    for (int k = 0; k + 1 < f.n; ++k) detail::check_reach(reach[same][k], f.extent[k]);
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

/// The cells of `a` under another shape of equal or smaller size: A o shape, column-major.
TW_HD constexpr layout with_shape(layout const& a, tree const& shape) {
  return composition(a, make_layout_left(shape));
}

TW_HD constexpr layout composition(layout const& a, i64 n) { return composition(a, layout(n, 1)); }

}  // namespace tw
