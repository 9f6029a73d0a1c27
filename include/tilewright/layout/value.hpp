// SPDX-License-Identifier: Apache-2.0
// value.hpp  The class `layout`: a shape, a stride for each of its leaves, perhaps a swizzle.
//
// L(c) = swizzle(offset + sum of coordinate * stride). `offset` is 0 except where a swizzled
// layout was sliced: there it cannot be moved into the pointer. A layout is a structural value: it
// is computed by ordinary constexpr functions and may be a template argument.
// Extents and strides may be run-time arguments (argument.hpp): the algebra then answers for every
// value of them or refuses, and bound() of bind.hpp puts numbers in.
// Needs:    extents >= 1 [TW0114]; one stride per leaf [TW0110]
// Ensures:  mode(make_layout(a, b, ...), i) == the i-th argument
// Example:  tests/layout/tree_test.cpp "layouts"
#pragma once

#include "tilewright/layout/swizzle.hpp"
#include "tilewright/layout/tree.hpp"

namespace tw {

struct layout {
  tree shape;
  num stride[max_leaves] = {};
  swizzle sw;
  i64 offset = 0;

  constexpr layout() = default;
  /// One leaf, n:d.
  TW_HD constexpr layout(i64 n, num d) : shape(n) { stride[0] = d; }
  TW_HD constexpr layout(i64 n, i64 d) : layout(n, num{d}) {}
  TW_HD constexpr layout(num n, num d) : shape(n) { stride[0] = d; }

  /// Extent of leaf i, which must be a number [TW0129].
  TW_HD constexpr i64 extent(int i) const { return number(shape.leaf[i]); }
  /// Extent of leaf i is the number 1.
  TW_HD constexpr bool is_unit(int i) const { return shape.leaf[i] == num{1}; }
  TW_HD constexpr bool swizzled() const { return !is_identity(sw); }

  /// Offset of a linear index (colexicographic, the last mode extends) or of a coordinate given as
  /// a tree or as one argument per mode. See evaluate.hpp.
  template <class... C>
  TW_HD constexpr i64 operator()(C const&... c) const;

  bool operator==(layout const&) const = default;
};

/// Modes, depth of nesting and number of coordinates: those of the shape.
TW_HD constexpr int rank(layout const& l) { return rank(l.shape); }
TW_HD constexpr int depth(layout const& l) { return depth(l.shape); }
TW_HD constexpr i64 size(layout const& l) { return size(l.shape); }
TW_HD constexpr num product_of(layout const& l) { return product_of(l.shape); }

namespace detail {

/// A number or a run-time argument, at least 1.
TW_HD constexpr void check_extent(num a) {
  if (a.v < 1 || (a.unit != unit_none && !is_argument(a))) refuse_extent(a.v, 1);
}

/// Appends the leaves of b; swizzles are the caller's.
TW_HD constexpr void append(layout& a, layout const& b) {
  int const at = a.shape.n;
  append(a.shape, b.shape);
  for (int i = 0; i < b.shape.n; ++i) a.stride[at + i] = b.stride[i];
}

/// Appends a leaf without parentheses.
TW_HD constexpr void append(layout& a, num n, num d) {
  append(a, layout(n, n == num{1} ? num{} : d));
}
TW_HD constexpr void append(layout& a, i64 n, num d) { append(a, num{n}, d); }

/// A tuple of n leaves becomes ((...)), one leaf becomes itself, none becomes 1:0.
TW_HD constexpr layout close_piece(layout piece) {
  if (piece.shape.n == 0) return {1, 0};
  if (piece.shape.n > 1) wrap(piece.shape);
  return piece;
}

TW_HD constexpr void wrap(layout& l) { wrap(l.shape); }

/// The leaves [r.begin, r.end) under the outline of a mode.
TW_HD constexpr layout strided(layout const& l, tree outline, leaf_range r) {
  layout m;
  m.shape = outline;
  for (int j = 0; j < outline.n; ++j) {
    m.shape.leaf[j] = l.shape.leaf[r.begin + j];
    m.stride[j] = l.stride[r.begin + j];
  }
  m.sw = l.sw;
  m.offset = l.offset;
  return m;
}

}  // namespace detail

/// l without swizzle and offset: l(c) == swizzle(offset + linear_part(l)(c)).
TW_HD constexpr layout linear_part(layout l) {
  l.sw = {};
  l.offset = 0;
  return l;
}

/// l with the swizzle and offset of `like`.
TW_HD constexpr layout swizzled_as(layout l, layout const& like) {
  l.sw = like.sw;
  l.offset = like.offset;
  return l;
}

/// s o l: l's offsets, swizzled. A swizzle of no bits leaves l plain.
TW_HD constexpr layout swizzled(swizzle s, layout l) {
  l.sw = l.swizzled() ? compose(s, l.sw) : make_swizzle(s.bits, s.base, s.shift);
  if (is_identity(l.sw)) l.sw = {};
  return l;
}

/// Mode i: L's function of coordinate i with the others 0.
TW_HD constexpr layout mode(layout const& l, int i) {
  leaf_range const r = mode_range(l.shape, i);
  return detail::strided(l, detail::mode_outline(l.shape, r), r);
}

/// shape:stride, two trees of the same profile.
TW_HD constexpr layout make_layout(tree const& shape, tree const& stride) {
  if (!congruent(shape, stride)) refuse_profile(stride.n, shape.n);
  layout l;
  l.shape = shape;
  for (int i = 0; i < shape.n; ++i) {
    detail::check_extent(shape.leaf[i]);
    bool const counts = is_argument(stride.leaf[i]) || stride.leaf[i].unit < unit_tile;
    if (!counts) refuse_stride(stride.leaf[i].v, 0);
    l.stride[i] = stride.leaf[i];
  }
  return l;
}

template <class L>
concept layout_like = requires(L const& l, void (&take)(layout const*)) {
  take(&l);
};

/// The layout of rank sizeof...(modes) whose modes are the arguments: offsets add.
template <layout_like... L>
requires(sizeof...(L) > 0) TW_HD constexpr layout make_layout(L const&... modes) {
  layout l;
  ((modes.swizzled() ? refuse_swizzled(modes.sw.bits, 0) : detail::append(l, modes)), ...);
  detail::wrap(l);
  return l;
}

}  // namespace tw
