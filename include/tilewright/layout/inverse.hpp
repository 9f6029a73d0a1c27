// SPDX-License-Identifier: Apache-2.0
// inverse.hpp  Offsets back to indices, and the indices that all map to 0.
//
//     right_inverse   L(R(i)) == i for every i < size(R): the longest run of offsets 0, 1, 2, ...
//     left_inverse    R(L(i)) == i for every index i of an injective L; L(R(L(i))) == L(i) where a
//                     stride 0 or an overlap in the last mode gives several indices one offset
//     nullspace       L(N(i)) == 0: the modes of stride 0
//
// Needs:    strides >= 0 [TW0109]; for left_inverse, each stride a multiple of the next smaller one
//           and no offset twice [TW0125]. A swizzled layout must be compact and move whole bits
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
  i64 extent, stride, index;
};

struct steps {
  int n = 0;
  step at[max_leaves] = {};
};

/// The merged leaves, sorted by stride.
TW_HD constexpr steps sorted_steps(layout const& l) {
  flat_layout const f = merge(l, {0, l.shape.n}, false);
  steps s;
  i64 index = 1;
  for (int i = 0; i < f.n; ++i) {
    if (f.stride[i].unit != unit_none) refuse_stride(f.stride[i].v, 1);
    if (f.stride[i].v < 0) refuse_stride(f.stride[i].v, 0);
    int at = s.n++;
    for (; at > 0 && s.at[at - 1].stride > f.stride[i].v; --at) s.at[at] = s.at[at - 1];
    s.at[at] = {f.extent[i], f.stride[i].v, index};
    index = times(index, f.extent[i]);
  }
  return s;
}

TW_HD constexpr layout plain_right_inverse(layout const& l) {
  steps const s = sorted_steps(l);
  layout out;
  i64 covered = 1;
  for (int k = 0; k < s.n; ++k) {
    if (s.at[k].stride != covered) continue;
    append(out, s.at[k].extent, num{s.at[k].index});
    covered = times(covered, s.at[k].extent);
  }
  return coalesce(close_piece(out));
}

TW_HD constexpr layout plain_left_inverse(layout const& l) {
  steps const s = sorted_steps(l);
  int first = 0;
  while (first < s.n && s.at[first].stride == 0) ++first;
  if (first == 1 && s.n == 1) return {s.at[0].extent, 0};
  layout out;
  bool const extends = l.shape.n > 0 && l.extent(l.shape.n - 1) > 1;
  i64 covered = 1;  // offsets that the smaller strides use
  if (first < s.n && s.at[first].stride > 1) append(out, s.at[first].stride, num{});
  for (int k = first; k < s.n; ++k) {
    step const& a = s.at[k];
    bool const unbounded = extends && k + 1 == s.n && a.index * a.extent == size(l);
    if (a.stride < covered && !unbounded) refuse_left_inverse(a.stride, covered);
    covered = times(a.stride, a.extent);
    i64 extent = a.extent;
    if (k + 1 < s.n) {
      if (s.at[k + 1].stride % a.stride != 0) refuse_left_inverse(s.at[k + 1].stride, a.stride);
      extent = s.at[k + 1].stride / a.stride;
    }
    append(out, extent, num{a.index});
  }
  return coalesce(close_piece(out));
}

}  // namespace detail

TW_HD constexpr layout right_inverse(layout const& l) {
  layout const inverse = detail::plain_right_inverse(plain(l));
  if (!l.swizzled()) return inverse;
  if (l.offset != 0) refuse_swizzled(l.sw.bits, 0);
  i64 const reads = l.sw.y_mask();
  i64 const lowest = reads & -reads;
  if (lowest >= size(inverse)) return inverse;  // no offset of the run has a bit that is read
  if ((reads | l.sw.z_mask()) >= size(inverse)) refuse_swizzled(l.sw.bits, 0);
  return swizzled(moved_swizzle(l.sw, inverse), inverse);
}

TW_HD constexpr layout left_inverse(layout const& l) {
  if (!l.swizzled()) return detail::plain_left_inverse(l);
  if (!detail::is_compact(l)) refuse_swizzled(l.sw.bits, 0);
  return right_inverse(l);  // compact: both are the inverse
}

TW_HD constexpr layout nullspace(layout const& l) {
  layout out;
  i64 index = 1;
  for (int i = 0; i < l.shape.n; ++i) {
    if (l.stride[i].v == 0 && l.extent(i) > 1) detail::append(out, l.extent(i), num{index});
    index = times(index, l.extent(i));
  }
  return detail::close_piece(out);
}

}  // namespace tw
