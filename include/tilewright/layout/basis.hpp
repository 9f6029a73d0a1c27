// SPDX-License-Identifier: Apache-2.0
// basis.hpp  Layouts whose offsets are coordinates: TMA tensors, predicates, identity tensors.
//
// A stride v@i@j moves v steps at position i of position j. The offset is then a tuple: every path
// that occurs is a leaf, positions that no stride names are 0.
//
//     L = ((2,2),8):((1@0,2@0),1@1)       coordinate_at(L, 5) == (1,1)
//
// Needs:    no ordinary stride beside basis strides, no path that leads through another [TW0117]
// Ensures:  coordinate_at(make_identity_layout(S), i) == idx2crd(i, S), trailing extents of 1 aside
// Example:  tests/layout/evaluate_test.cpp "basis"
#pragma once

#include "tilewright/layout/evaluate.hpp"

namespace tw {

/// A stride counts coordinates somewhere in l.
TW_HD constexpr bool has_basis(layout const& l) {
  for (int i = 0; i < l.shape.n; ++i) {
    if (is_basis(l.stride[i])) return true;
  }
  return false;
}

namespace detail {

/// The path begins with the first `levels` indices of `prefix`.
TW_HD constexpr bool begins_with(std::uint32_t path, std::uint32_t prefix, int levels) {
  return levels == 0 || ((path ^ prefix) << (32 - 4 * levels)) == 0;
}

/// The tuple below `prefix`, a path of `levels` indices.
TW_HD constexpr tree coordinate_below(layout const& l, i64 const* sums, std::uint32_t prefix,
                                      int levels) {
  int last = -1;
  bool leaf = false;
  for (int i = 0; i < l.shape.n; ++i) {
    if (!is_basis(l.stride[i]) || !begins_with(l.stride[i].unit, prefix, levels)) continue;
    if (path_depth(l.stride[i].unit) == levels) {
      leaf = true;
    } else {
      last = larger(last, path_index(l.stride[i].unit, levels));
    }
  }
  if (leaf && last >= 0) refuse_path(levels, max_path_depth);
  if (last < 0) {
    i64 sum = 0;
    for (int i = 0; i < l.shape.n && leaf; ++i) sum += l.stride[i].unit == prefix ? sums[i] : 0;
    return tree(sum);
  }
  tree t;
  for (int k = 0; k <= last; ++k) {
    append(t,
           coordinate_below(l, sums, prefix | (static_cast<std::uint32_t>(k + 1) << (4 * levels)),
                            levels + 1));
  }
  wrap(t);
  return t;
}

}  // namespace detail

/// L(index) of a layout with basis strides.
TW_HD constexpr tree coordinate_at(layout const& l, i64 index) {
  i64 sums[max_leaves] = {};
  for (int i = 0; i < l.shape.n; ++i) {
    i64 const c = i + 1 == l.shape.n ? index : index % l.extent(i);
    index /= l.extent(i);
    if (number(l.stride[i]) != 0 && !is_basis(l.stride[i])) refuse_path(l.stride[i].v, 0);
    sums[i] = times(c, l.stride[i].v);
  }
  return detail::coordinate_below(l, sums, 0, 0);
}

}  // namespace tw
