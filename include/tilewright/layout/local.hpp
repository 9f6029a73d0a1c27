// SPDX-License-Identifier: Apache-2.0
// local.hpp  One tile of a layout, or one thread's part of it, and where it begins.
//
//     local_tile(L, (128,64), (2,_))     tile row 2, all tile columns: (128, 64, columns)
//     local_partition(L, threads, i)     the cells that thread i owns, when `threads` covers L
//     again
//                                        and again
//
// Law:      kept(x) + offset == zipped_divide(L, T)((x's tile part), coordinate)
// Needs:    what zipped_divide needs; one coordinate or _ for each mode of the rest [TW0110]
// Example:  tests/layout/local_test.cpp
#pragma once

#include "tilewright/layout/divide.hpp"
#include "tilewright/layout/slice.hpp"

namespace tw {

namespace detail {

/// The modes of a, then the modes of b.
TW_HD constexpr layout joined(layout const& a, layout const& b) {
  layout out;
  for (int i = 0; i < rank(a); ++i) append(out, mode(a, i));
  for (int i = 0; i < rank(b); ++i) append(out, mode(b, i));
  wrap(out);
  return out;
}

/// The coordinate filled up with _ to rank r.
TW_HD constexpr tree padded_coordinate(tree const& c, int r) {
  tree out;
  for (int i = 0; i < rank(c); ++i) append(out, mode(c, i));
  for (int i = rank(c); i < r; ++i) append(out, tree(any));
  wrap(out);
  return out;
}

}  // namespace detail

/// The tile at `at`; modes marked _ are appended. One integer counts through all tiles.
TW_HD constexpr sliced local_tile(layout const& l, tiler const& tile, tree const& at) {
  layout const d = zipped_divide(l, tile);
  // One integer is an index of all tiles, as in CuTe; a tuple has a coordinate for each mode.
  bool const index = at.is_leaf() && !is_any(at.leaf[0]);
  tree const c = index ? idx2crd(number(at.leaf[0]), mode(d, 1).shape)
                       : detail::padded_coordinate(at, rank(mode(d, 1)));
  layout kept = detail::joined(mode(d, 0), detail::modes_where(mode(d, 1), c, true));
  i64 const offset = crd2idx(c, mode(d, 1));
  if (!l.swizzled()) return {kept, plus(l.offset, offset)};
  kept = swizzled_as(kept, l);
  kept.offset = plus(kept.offset, offset);
  return detail::settled(kept);
}

/// local_tile() of a layout whose offsets are coordinates.
TW_HD constexpr sliced_coordinates local_tile_coordinates(layout const& l, tiler const& tile,
                                                          tree const& at) {
  layout const d = zipped_divide(l, tile);
  layout const rest = mode(d, 1);
  bool const index = at.is_leaf() && !is_any(at.leaf[0]);
  tree const c =
      index ? idx2crd(number(at.leaf[0]), rest.shape) : detail::padded_coordinate(at, rank(rest));
  return {detail::joined(mode(d, 0), detail::modes_where(rest, c, true)),
          moved_by(origin_of(l), rest, c)};
}

/// Only the modes whose place in `which` is not _ take part, of the tile and of the coordinate.
TW_HD constexpr sliced local_tile(layout const& l, tree const& tile, tree const& at,
                                  tree const& which) {
  if (rank(which) > rank(tile) || rank(which) > rank(at)) refuse_profile(rank(which), rank(tile));
  tree t;
  tree c;
  for (int i = 0; i < rank(which); ++i) {
    if (is_any(mode(which, i).leaf[0])) continue;
    detail::append(t, mode(tile, i));
    detail::append(c, mode(at, i));
  }
  detail::wrap(t);
  detail::wrap(c);
  return local_tile(l, tile_of(t), c);
}

/// The part of thread `index` of a layout of threads: shape says how many along each mode, strides
/// say which index stands where.
TW_HD constexpr sliced local_partition(layout const& l, layout const& threads, i64 index) {
  tree extents;
  tree at;
  for (int i = 0; i < rank(threads); ++i) {
    layout const m = mode(threads, i);
    tree c = m.shape;
    for (int k = 0; k < c.n; ++k) {
      i64 const d = plain_stride(m.stride[k]);
      if (d < 0) refuse_stride(d, 0);
      c.leaf[k] = num{d == 0 ? 0 : index / d % m.extent(k)};
    }
    detail::append(extents, tree(size(m)));
    detail::append(at, tree(crd2idx(c, m.shape)));
  }
  detail::wrap(extents);
  detail::wrap(at);
  layout const d = zipped_divide(l, tile_of(extents));
  layout kept = mode(d, 1);
  i64 const offset = crd2idx(at, mode(d, 0));
  if (!l.swizzled()) return {kept, offset};
  kept.offset = plus(kept.offset, offset);
  return detail::settled(kept);
}

/// local_tile of the identity layout of a shape: strides count coordinates, and the tile begins at
/// a coordinate. local_tile_identity((8,8), (2,4), (1,1)) == (2,4):(1@0,1@1), from (2,4) on.
TW_HD constexpr sliced_coordinates local_tile_identity(tree const& shape, tiler const& tile,
                                                       tree const& at) {
  layout const d = zipped_divide(make_identity_layout(shape), tile);
  layout const rest = mode(d, 1);
  tree const c = detail::padded_coordinate(at, rank(rest));
  tree origin = shape;
  for (int i = 0; i < origin.n; ++i) origin.leaf[i] = num{};
  return {detail::joined(mode(d, 0), detail::modes_where(rest, c, true)),
          moved_by(origin, rest, c)};
}

}  // namespace tw
