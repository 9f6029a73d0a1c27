// SPDX-License-Identifier: Apache-2.0
// basis.hpp  Layouts whose offsets are coordinates: TMA tensors, predicates, identity tensors.
//
// A stride v@i@j moves v steps at position i of position j. The offset is then a tuple: every path
// that occurs is a leaf, positions that no stride names are 0.
//
//     L = ((2,2),8):((1@0,2@0),1@1)       coordinate_at(L, 5) == (1,1)
//
// Needs:    no ordinary stride beside basis strides, no path that leads through another [TW0117]
//     basis(1, 0)             the stride 1@0@1: step 1 at position 0 of position 1
//     coshape(L) == (2,8)     extents of the smallest box from 0 that holds all coordinates
//     moved_by(at, L, c)      the coordinate `at` plus L(c), in the profile of `at`
//
// Ensures:  coordinate_at(make_identity_layout(S), i) == idx2crd(i, S), trailing extents of 1 aside
// Example:  tests/layout/evaluate_test.cpp "basis"
#pragma once

#include "tilewright/layout/evaluate.hpp"

namespace tw {

/// The stride that steps by 1 along a path of positions, outermost first.
template <integer_like... I>
requires(sizeof...(I) > 0) TW_HD constexpr num basis(I... position) {
  int const path[] = {static_cast<int>(position)...};
  int const levels = static_cast<int>(sizeof...(I));
  if (levels > max_path_depth) refuse_path(levels, max_path_depth);
  num e{1, unit_none};
  for (int k = 0; k < levels; ++k) {
    if (path[k] < 0 || path[k] > max_path_index) refuse_path(path[k], max_path_index);
    e.unit |= static_cast<std::uint32_t>(path[k] + 1) << (4 * k);
  }
  return e;
}

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

/// The coordinate at which all of l's coordinates begin: its profile, filled with 0.
TW_HD constexpr tree origin_of(layout const& l) {
  i64 const sums[max_leaves] = {};
  return detail::coordinate_below(l, sums, 0, 0);
}

/// Extents of the smallest box from 0 that holds all coordinates of l; for ordinary strides, its
/// cosize. Strides are numbers >= 0 [TW0109].
TW_HD constexpr tree coshape(layout const& l) {
  if (!has_basis(l)) return tree(cosize(l));
  i64 last[max_leaves] = {};
  for (int i = 0; i < l.shape.n; ++i) {
    i64 const d = number(l.stride[i]);
    if (d < 0) refuse_stride(d, 0);
    if (d != 0 && !is_basis(l.stride[i])) refuse_path(d, 0);
    last[i] = d == 0 ? 0 : times(l.extent(i) - 1, d);
  }
  tree box = detail::coordinate_below(l, last, 0, 0);
  for (int i = 0; i < box.n; ++i) box.leaf[i].v += 1;
  return box;
}

namespace detail {

/// The leaf of a tree at the end of a basis path.
TW_HD constexpr int leaf_on_path(tree const& t, std::uint32_t path) {
  leaf_range range{0, t.n};
  tree part = t;
  for (int k = 0; k < path_depth(path); ++k) {
    leaf_range const inner = mode_range(part, path_index(path, k));
    part = mode(part, path_index(path, k));
    range = {range.begin + inner.begin, range.begin + inner.end};
  }
  if (range.end - range.begin != 1) refuse_profile(range.end - range.begin, 1);
  return range.begin;
}

}  // namespace detail

/// The coordinate `at` plus L(c): L's basis strides name leaves of `at`, c is a coordinate of L's
/// shape. Only extents that c's indices run through must be numbers: tiles of a tensor whose shape
/// is known at run time have coordinates too.
TW_HD constexpr tree moved_by(tree at, layout const& l, tree const& c) {
  matching const m = match(c, l.shape);
  if (!m.ok) refuse_profile(c.n, l.shape.n);
  for (int j = 0; j < c.n; ++j) {
    i64 index = number(c.leaf[j]);
    for (int i = m.at[j]; i < m.at[j + 1] && index != 0; ++i) {
      bool const last = i + 1 == m.at[j + 1];
      i64 const digit = last ? index : index % l.extent(i);
      if (!last) index /= l.extent(i);
      if (digit == 0 || l.stride[i].v == 0) continue;
      if (!is_basis(l.stride[i])) refuse_path(l.stride[i].v, 0);
      num& leaf = at.leaf[detail::leaf_on_path(at, l.stride[i].unit)];
      leaf = num{plus(number(leaf), times(digit, l.stride[i].v))};
    }
  }
  return at;
}

}  // namespace tw
