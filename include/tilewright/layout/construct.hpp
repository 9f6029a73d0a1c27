// SPDX-License-Identifier: Apache-2.0
// construct.hpp  Compact layouts of a shape: column-major, row-major, in a given order, identity.
//
// Needs:    extents >= 1 [TW0114]; for an order, one rank per mode [TW0110]; no stride that is a
//           product of two run-time extents [TW0130]
// Ensures:  cosize == size; the stride of a leaf is the product of the extents before it (in that
//           order); extents of 1 get stride 0 where CuTe's ordered layouts do
// Example:  make_layout_right("(4,8)") == (4,8):(8,1)      tests/layout/construct_test.cpp
#pragma once

#include "tilewright/layout/value.hpp"

namespace tw {

namespace detail {

TW_HD constexpr layout with_extents(tree const& shape) {
  layout l;
  l.shape = shape;
  for (int i = 0; i < shape.n; ++i) {
    check_extent(shape.leaf[i]);
  }
  return l;
}

}  // namespace detail

/// Column-major: the first leaf is contiguous.
TW_HD constexpr layout make_layout_left(tree const& shape) {
  layout l = detail::with_extents(shape);
  num next{1};
  for (int i = 0; i < shape.n; ++i) {
    l.stride[i] = next;
    if (i + 1 < shape.n) next = times(next, shape.leaf[i]);
  }
  return l;
}

/// Row-major: the last leaf is contiguous.
TW_HD constexpr layout make_layout_right(tree const& shape) {
  layout l = detail::with_extents(shape);
  num next{1};
  for (int i = shape.n; i-- > 0;) {
    l.stride[i] = next;
    if (i > 0) next = times(next, shape.leaf[i]);
  }
  return l;
}

/// Column-major, from a shape alone.
TW_HD constexpr layout make_layout(tree const& shape) { return make_layout_left(shape); }
template <integer_like... I>
requires(sizeof...(I) > 0) TW_HD constexpr layout make_layout(I... extents) {
  return make_layout_left(make_tree(i64{extents}...));
}

/// Compact, leaves in ascending order of their key; equal keys go left to right. The profile of
/// `order` may be coarser than the shape's: then a leaf of it orders the whole mode.
TW_HD constexpr layout make_ordered_layout(tree const& shape, tree const& order) {
  layout l = detail::with_extents(shape);
  matching const m = match(order, shape);
  if (!m.ok) refuse_profile(order.n, shape.n);
  bool done[max_leaves] = {};
  int placed = 0;
  num next{1};
  for (int k = 0; k < order.n; ++k) {
    int first = -1;
    for (int j = 0; j < order.n; ++j) {
      if (done[j]) continue;
      if (first < 0 || number(order.leaf[j]) < number(order.leaf[first])) first = j;
    }
    done[first] = true;
    for (int i = m.at[first]; i < m.at[first + 1]; ++i) {
      l.stride[i] = l.is_unit(i) ? num{} : next;
      if (++placed < shape.n) next = times(next, shape.leaf[i]);
    }
  }
  return l;
}

/// The layout whose offsets are coordinates: stride 1 along each leaf's own path.
TW_HD constexpr layout make_identity_layout(tree const& shape) {
  layout l = detail::with_extents(shape);
  int index[max_leaves + 1] = {};  // position at each open level
  for (int i = 0, level = 0; i < shape.n; ++i) {
    for (int k = shape.opened(i); k > 0; --k) index[level++] = 0;
    if (level > max_path_depth) refuse_path(level, max_path_depth);
    std::uint32_t path = 0;
    for (int k = 0; k < level; ++k) {
      if (index[k] > max_path_index) refuse_path(index[k], max_path_index);
      path |= static_cast<std::uint32_t>(index[k] + 1) << (4 * k);
    }
    l.stride[i] = num{1, path};
    level -= shape.closed(i);
    if (level > 0) ++index[level - 1];
  }
  return l;
}

}  // namespace tw
