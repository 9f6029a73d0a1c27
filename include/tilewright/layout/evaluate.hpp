// SPDX-License-Identifier: Apache-2.0
// evaluate.hpp  Coordinates and indices: L(i), L(c), idx2crd, crd2idx, cosize, coordinate offsets.
//
// An index counts colexicographically: the first leaf runs fastest. A coordinate's leaf may stand
// for a whole mode; it is then an index into that mode. The last leaf of whatever an index is
// applied to has no bound: it extends, as in CuTe. Negative indices divide and take remainders
// towards zero, as C++ does.
// Needs:    a coordinate whose profile is coarser than or equal to the shape's [TW0110]
// Ensures:  L(idx2crd(i, shape(L))) == L(i)
// Example:  "((2,4),8):((1,16),2)"_L(5) == 33        tests/layout/evaluate_test.cpp
#pragma once

#include "tilewright/layout/construct.hpp"
#include "tilewright/layout/value.hpp"

namespace tw {

namespace detail {

/// Leaves [r.begin, r.end) of l applied to an index of them.
TW_HD constexpr i64 index_range(layout const& l, leaf_range r, i64 index) {
  i64 sum = 0;
  for (int i = r.begin; i < r.end; ++i) {
    if (index == 0) break;
    i64 const c = i + 1 == r.end ? index : index % l.extent(i);
    if (i + 1 < r.end) index /= l.extent(i);
    if (c == 0) continue;
    sum = plus(sum, times(c, plain_stride(l.stride[i])));
  }
  return sum;
}

}  // namespace detail

/// Offset before swizzle and l.offset.
TW_HD constexpr i64 crd2idx(tree const& c, layout const& l) {
  matching const m = match(c, l.shape);
  if (!m.ok) refuse_profile(c.n, l.shape.n);
  i64 sum = 0;
  for (int j = 0; j < c.n; ++j) {
    sum = plus(sum, detail::index_range(l, {m.at[j], m.at[j + 1]}, number(c.leaf[j])));
  }
  return sum;
}

/// Index of a coordinate in a shape.
TW_HD constexpr i64 crd2idx(tree const& c, tree const& shape) {
  return crd2idx(c, make_layout_left(shape));
}

template <class... C>
TW_HD constexpr i64 layout::operator()(C const&... c) const {
  static_assert(sizeof...(C) > 0, "L(i), L(coordinate) or L(i, j, ...)");
  i64 index = 0;
  if constexpr (sizeof...(C) == 1 && (integer_like<C> && ...)) {
    index = detail::index_range(*this, {0, shape.n}, static_cast<i64>(c)...);
  } else if constexpr (sizeof...(C) == 1) {
    index = crd2idx(c..., *this);
  } else {
    index = crd2idx(make_tree(c...), *this);
  }
  return sw(plus(offset, index));
}

/// Offset of a coordinate under a shape and strides.
TW_HD constexpr i64 crd2idx(tree const& c, tree const& shape, tree const& stride) {
  return crd2idx(c, make_layout(shape, stride));
}

/// The coordinate of an index: the shape with every leaf replaced by its position.
TW_HD constexpr tree idx2crd(i64 index, tree const& shape) {
  tree c = shape;
  for (int i = 0; i < shape.n; ++i) {
    c.leaf[i] = num{index};
    if (i + 1 == shape.n) break;
    i64 const extent = number(shape.leaf[i]);
    c.leaf[i].v %= extent;
    index /= extent;
  }
  return c;
}

/// The coordinate of an offset under strides: offset / stride % extent for each leaf, 0 where the
/// stride is 0. Strides are numbers >= 0 [TW0109]. Where the layout is compact this is its inverse:
/// idx2crd(13, (4,8), (8,1)) == (1,5).
TW_HD constexpr tree idx2crd(i64 offset, tree const& shape, tree const& stride) {
  layout const l = make_layout(shape, stride);
  tree c = shape;
  for (int i = 0; i < shape.n; ++i) {
    i64 const d = plain_stride(l.stride[i]);
    if (d < 0) refuse_stride(d, 0);
    c.leaf[i] = num{d == 0 ? 0 : offset / d % l.extent(i)};
  }
  return c;
}

namespace detail {

/// The offsets are 0 .. size - 1, once each.
TW_HD constexpr bool is_compact(layout const& l) {
  i64 covered = 1;
  for (bool found = true; found;) {
    found = false;
    for (int i = 0; i < l.shape.n; ++i) {
      if (l.is_unit(i) || l.stride[i] != num{covered}) continue;
      covered = times(covered, l.extent(i));
      found = true;
    }
  }
  return covered == size(l);
}

}  // namespace detail

/// Elements from the smallest to the largest offset: one past the largest, if no stride is
/// negative; cosize(4:-1) == 4. A swizzled layout that is not
/// compact is walked, up to 2^20 cells [TW0116].
TW_HD constexpr i64 cosize(layout const& l) {
  i64 last = 0;
  for (int i = 0; i < l.shape.n; ++i) {
    i64 const d = plain_stride(l.stride[i]);
    if (d != 0) last = plus(last, times(l.extent(i) - 1, magnitude(d)));
  }
  if (!l.swizzled()) return last + 1;
  int const reach = l.sw.base + l.sw.bits + static_cast<int>(magnitude(l.sw.shift));
  i64 const block = i64{1} << reach;  // the swizzle permutes aligned blocks of this size
  if (l.offset == 0 && (last + 1) % block == 0 && detail::is_compact(l)) return last + 1;
  if (size(l) > i64{1} << 20) refuse_swizzled(l.sw.bits, 0);
  i64 largest = 0;
  for (i64 i = 0, n = size(l); i < n; ++i) largest = larger(largest, l(i));
  return largest + 1;
}

}  // namespace tw
