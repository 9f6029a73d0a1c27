// SPDX-License-Identifier: Apache-2.0
// tiler.hpp  Tilers: a layout, an integer, _, or a tuple of tilers, one for each mode.
//
//     8          8:1                      (2:1,4)      2:1 for mode 0, 4:1 for mode 1
//     _          the mode as it is        (_,(2,4))    mode 1 is cut mode by mode in its turn
//
// (8,4) without strides is a tuple of two tilers, one for each mode; (8,4):(1,8) is one layout.
// The parentheses of the two kinds stand in one outline; `split` counts those that are tuples.
// Example:  tile(16, "2:1"_L, any)       tests/layout/composition_test.cpp
#pragma once

#include "tilewright/layout/value.hpp"

namespace tw {

struct tiler {
  layout cells;
  std::uint64_t split = 0;  // nibble i: how many parentheses before leaf i are tilers' tuples

  constexpr tiler() = default;
  TW_HD constexpr tiler(layout const& l) : cells(l) {}
  TW_HD constexpr tiler(num v) : cells(1, v) {}
  TW_HD constexpr tiler(i64 n) : cells(n, num{n == 1 ? 0 : 1, unit_tile}) {
    if (n < 1) refuse_extent(n, 1);
  }
  TW_HD constexpr tiler(int n) : tiler(i64{n}) {}

  /// One tiler for each mode.
  TW_HD constexpr bool by_mode() const { return (split & 15U) != 0; }
  /// _: the mode stays as it is.
  TW_HD constexpr bool keeps() const { return cells.shape.is_leaf() && is_any(cells.stride[0]); }

  bool operator==(tiler const&) const = default;
};

/// The tuple of tilers (a, b, ...).
template <class... T>
TW_HD constexpr tiler tile(T const&... modes) {
  tiler t;
  auto const add = [&t](tiler const& m) {
    if (m.cells.swizzled()) refuse_swizzled(m.cells.sw.bits, 0);
    int const leaves = t.cells.shape.n;
    detail::append(t.cells, m.cells);  // refuses more than 16
    t.split |= m.split << (4 * leaves);
  };
  (add(tiler(modes)), ...);
  detail::wrap(t.cells);
  t.split += 1;
  return t;
}

TW_HD constexpr tiler mode(tiler const& t, int i) {
  leaf_range const r = mode_range(t.cells.shape, i);
  tiler m;
  m.cells = detail::strided(t.cells, detail::mode_outline(t.cells.shape, r), r);
  m.split = detail::cut(t.split, r);
  if (r.begin == 0) m.split -= 1;
  return m;
}

/// Number of modes that a tuple of tilers cuts.
TW_HD constexpr int rank(tiler const& t) { return rank(t.cells.shape); }

/// The layout of a tiler that is not a tuple and not _; the bare integer n is n:1.
TW_HD constexpr layout as_layout(tiler const& t) {
  layout l = t.cells;
  if (l.shape.is_leaf() && l.stride[0].unit == unit_tile) l.stride[0] = num{l.stride[0].v};
  return l;
}

/// A tuple of bare integers, one for each leaf of a shape.
TW_HD constexpr tiler tile_of(tree const& shape) {
  tiler t;
  t.cells.shape = shape;
  for (int i = 0; i < shape.n; ++i) {
    if (!is_any(shape.leaf[i]) && number(shape.leaf[i]) < 1) refuse_extent(shape.leaf[i].v, 1);
    t.cells.stride[i] = is_any(shape.leaf[i]) ? any : num{shape.leaf[i].v == 1 ? 0 : 1, unit_tile};
    if (is_any(shape.leaf[i])) t.cells.shape.leaf[i] = num{1};
  }
  t.split = shape.open;
  return t;
}

}  // namespace tw
