// SPDX-License-Identifier: Apache-2.0
// inverse.hpp  Offsets back to indices, and the indices that all map to 0.
//
//     right_inverse   L(R(i)) == i for every i < size(R): the longest run of offsets 0, 1, 2, ...
//     left_inverse    R(L(i)) == i for every index i of an injective L; L(R(L(i))) == L(i) where a
//                     stride 0 or an overlap in the last mode gives several indices one offset
//     nullspace       L(N(i)) == 0: the modes of stride 0
//
// Run time: the run of a right inverse ends where it is not known to go on; left inverse and null
//           space refuse what depends on the value of an argument [TW0129, TW0130, TW0132]
// Needs:    strides >= 0 [TW0109]; for left_inverse, each stride a multiple of the next smaller one
//           and no offset twice [TW0125]. The inverse of a swizzled layout must move whole bits
//           [TW0116].
// Example:  right_inverse((4,8):(8,1)) == (8,4):(4,1)       tests/layout/inverse_test.cpp
#pragma once

#include "tilewright/layout/bits.hpp"
#include "tilewright/layout/coalesce.hpp"
#include "tilewright/layout/evaluate.hpp"

namespace tw {

namespace detail {

/// A leaf of a layout, with the index that steps along it.
struct step {
  num extent, stride, index;
};

struct steps {
  int n = 0;
  step at[max_leaves] = {};
};

/// The merged leaves, sorted by stride; those known at run time last, in their order. The index of
/// a leaf after two run-time extents cannot be expressed and is 0.
TW_HD constexpr steps sorted_steps(layout const& l) {
  flat_layout const f = merge(l, {0, l.shape.n}, false);
  steps s;
  num index{1};
  for (int i = 0; i < f.n; ++i) {
    if (is_basis(f.stride[i])) refuse_stride(f.stride[i].v, 1);
    if (f.stride[i].v < 0) refuse_stride(f.stride[i].v, 0);
    auto const before = [d = f.stride[i]](num other) {
      return !is_argument(d) && (is_argument(other) || d.v < other.v);
    };
    int at = s.n++;
    for (; at > 0 && before(s.at[at - 1].stride); --at) s.at[at] = s.at[at - 1];
    s.at[at] = {f.extent[i], f.stride[i], index};
    index = can_multiply(index, f.extent[i]) ? times(index, f.extent[i]) : num{};
  }
  return s;
}

TW_HD constexpr layout plain_right_inverse(layout const& l) {
  steps const s = sorted_steps(l);
  layout out;
  num covered{1};
  bool used[max_leaves] = {};
  for (bool found = true; found;) {
    found = false;
    for (int k = 0; k < s.n && !found; ++k) {
      if (used[k] || s.at[k].stride != covered) continue;
      if (s.at[k].index.v == 0) refuse_argument_product(argument_index(s.at[k].extent), -1);
      append(out, s.at[k].extent, s.at[k].index);
      found = used[k] = true;
      if (!can_multiply(covered, s.at[k].extent)) return coalesce(close_piece(out));
      covered = times(covered, s.at[k].extent);
    }
  }
  return coalesce(close_piece(out));
}

/// `a` is the last leaf of l, which has no bound: it may overlap what the others cover.
TW_HD constexpr bool is_last_leaf(layout const& l, step const& a) {
  if (l.shape.n == 0 || l.is_unit(l.shape.n - 1)) return false;
  for (int i = 0; i < l.shape.n; ++i) {
    if (is_argument(l.shape.leaf[i])) return false;
  }
  return times(a.index, a.extent) == num{size(l)};
}

/// The stride of `a` as a multiple of `unit`, which smaller strides cover or step by.
TW_HD constexpr num nested(step const& a, num unit) {
  quotient const q = divided(a.stride, unit);
  if (q.exact && q.value.v > 0) return q.value;
  if (is_argument(a.stride)) refuse_argument_division(a.stride.v, number(unit));
  refuse_left_inverse(number(a.stride), number(unit));
  return {};
}

TW_HD constexpr layout plain_left_inverse(layout const& l) {
  steps const s = sorted_steps(l);
  int first = 0;
  while (first < s.n && s.at[first].stride == num{}) ++first;
  if (first == 1 && s.n == 1) return {s.at[0].extent, num{}};
  layout out;
  num covered{1};  // offsets that the smaller strides use
  if (first < s.n && s.at[first].stride != num{1}) append(out, s.at[first].stride, num{});
  for (int k = first; k < s.n; ++k) {
    step const& a = s.at[k];
    bool const is_last = k + 1 == s.n;
    if (is_argument(a.stride) || is_argument(covered)) {
      nested(a, covered);
    } else if (a.stride.v < covered.v && !(is_last && is_last_leaf(l, a))) {
      refuse_left_inverse(a.stride.v, covered.v);
    }
    if (a.index.v == 0) refuse_argument_product(argument_index(a.extent), -1);
    append(out, is_last ? a.extent : nested(s.at[k + 1], a.stride), a.index);
    if (!is_last) covered = times(a.stride, a.extent);
  }
  return coalesce(close_piece(out));
}

}  // namespace detail

namespace detail {

/// The swizzle without the pairs of bits of which the one that is read is 0 below `end`.
TW_HD constexpr swizzle acting_below(swizzle s, i64 end) {
  while (s.bits > 0 && (i64{1} << (s.base + (s.shift > 0 ? s.shift : 0) + s.bits - 1)) >= end) {
    --s.bits;
  }
  return s;
}

/// Every extent is a power of two.
TW_HD constexpr bool has_whole_bits(layout const& l) {
  for (int i = 0; i < l.shape.n; ++i) {
    if ((l.extent(i) & (l.extent(i) - 1)) != 0) return false;
  }
  return true;
}

/// inverse(s o L) == inverse(L) o s == s' o inverse(L), where the inverse moves whole bits. `end`:
/// offsets before the swizzle are below it.
TW_HD constexpr layout swizzled_inverse(layout const& l, layout const& inverse, i64 end) {
  if (l.offset != 0) refuse_swizzled(l.sw.bits, 0);
  swizzle const s = acting_below(l.sw, end);
  if (is_identity(s)) return inverse;
  if (!has_whole_bits(inverse)) refuse_swizzled(l.sw.bits, 0);
  if ((s.y_mask() | s.z_mask()) >= size(inverse)) refuse_swizzled(l.sw.bits, 0);
  return swizzled(moved_swizzle(s, inverse), inverse);
}

}  // namespace detail

TW_HD constexpr layout right_inverse(layout const& l) {
  layout const inverse = detail::plain_right_inverse(linear_part(l));
  if (!l.swizzled()) return inverse;
  return detail::swizzled_inverse(l, inverse, size(inverse));
}

TW_HD constexpr layout left_inverse(layout const& l) {
  if (!l.swizzled()) return detail::plain_left_inverse(l);
  if (detail::is_compact(l)) return right_inverse(l);  // both are the inverse
  return detail::swizzled_inverse(l, detail::plain_left_inverse(linear_part(l)),
                                  cosize(linear_part(l)));
}

TW_HD constexpr layout nullspace(layout const& l) {
  layout out;
  num index{1};
  for (int i = 0; i < l.shape.n; ++i) {
    if (number(l.stride[i]) == 0 && !l.is_unit(i)) detail::append(out, l.shape.leaf[i], index);
    if (i + 1 < l.shape.n) index = times(index, l.shape.leaf[i]);
  }
  return detail::close_piece(out);
}

}  // namespace tw
