// SPDX-License-Identifier: Apache-2.0
// slice.hpp  Fixing some coordinates: slice keeps the modes marked _, dice keeps the others.
//
//     slice((4,8):(8,1), (2,_)) == (8):(1), offset 16        dice((4,8):(8,1), (2,_)) == (4):(8)
//
// Law:      slice(L, c)(x) + offset == L(c with x instead of the _)
// Swizzle:  if no bit that still varies overlaps another one in the swizzle, the slice is plain:
//           every bit moves the offset by a fixed amount, perhaps a negative one. Otherwise it
//           stays swizzled and carries inside what of the offset the swizzle touches.
// Needs:    a coordinate whose profile is coarser than or equal to the shape's [TW0110]
// Example:  tests/layout/slice_test.cpp
#pragma once

#include "tilewright/layout/basis.hpp"
#include "tilewright/layout/bits.hpp"
#include "tilewright/layout/coalesce.hpp"
#include "tilewright/layout/evaluate.hpp"

namespace tw {

namespace detail {

/// The mode of l that leaf j of the coordinate c stands for.
TW_HD constexpr layout matched_mode(layout const& l, tree const& c, matching const& m, int j) {
  leaf_range const r{m.at[j], m.at[j + 1]};
  tree outline;
  outline.n = r.end - r.begin;
  outline.open = cut(l.shape.open, r) - static_cast<std::uint64_t>(c.opened(j));
  outline.close =
      cut(l.shape.close, r) - (static_cast<std::uint64_t>(c.closed(j)) << (4 * (outline.n - 1)));
  return strided(l, outline, r);
}

TW_HD constexpr layout modes_where(layout const& l, tree const& c, bool wild) {
  matching const m = match(c, l.shape);
  if (!m.ok) refuse_profile(c.n, l.shape.n);
  if (c.is_leaf() && is_any(c.leaf[0]) == wild) return l;
  layout out;
  for (int j = 0; j < c.n; ++j) {
    if (is_any(c.leaf[j]) == wild) append(out, matched_mode(l, c, m, j));
  }
  wrap(out);
  return swizzled_as(out, l);
}

}  // namespace detail

struct sliced {
  layout kept;
  i64 offset = 0;  // to be added to the pointer
};

/// A part of a layout whose offsets are coordinates, and the coordinate at which it begins: what a
/// bounds check or a TMA copy needs. The extents may be known at run time.
struct sliced_coordinates {
  layout kept;
  tree origin;
};

namespace detail {

/// Every leaf as single bits, each with the distance that it moves the swizzled offset; merged.
TW_HD constexpr layout unswizzled(layout const& l) {
  i64 const start = l.sw(l.offset);
  layout out;
  for (int i = 0; i < l.shape.n; ++i) {
    layout bits;
    for (i64 d = number(l.stride[i]), n = l.extent(i); n > 1; n /= 2, d *= 2) {
      append(bits, d == 0 ? n : 2, num{l.sw(l.offset + d) - start});
      if (d == 0) break;
    }
    layout piece = coalesce(close_piece(bits));
    add_open(piece.shape, 0, l.shape.opened(i));
    add_close(piece.shape, piece.shape.n - 1, l.shape.closed(i));
    append(out, piece);
  }
  return out;
}

/// Takes out of a swizzled layout with an offset what can stand outside.
TW_HD constexpr sliced settled(layout l) {
  i64 const moves = moved_bits(l);
  i64 const reads = l.sw.y_mask();
  i64 const touched = reads | l.sw.z_mask();
  if (moves < 0 || (moves & l.offset) != 0) return {l, 0};
  i64 const met = moves & reads;  // as the bits that these change
  i64 const changes = l.sw.shift >= 0 ? met >> l.sw.shift : met << -l.sw.shift;
  if ((changes & moves) == 0) return {unswizzled(l), l.sw(l.offset)};
  i64 const outside = l.offset & ~touched;
  l.offset &= touched;
  return {l, outside};
}

}  // namespace detail

TW_HD constexpr sliced slice(layout const& l, tree const& c) {
  layout kept = detail::modes_where(l, c, true);
  i64 const offset = crd2idx(c, l);
  if (!l.swizzled()) return {linear_part(kept), plus(l.offset, offset)};
  kept.offset = plus(kept.offset, offset);
  return detail::settled(kept);
}

/// slice() of a layout with basis strides: it begins at a coordinate, whose profile is that of
/// L's coordinates (coshape). slice_coordinates((4,8):(1@0,1@1), (2,_)) == (8):(1@1) from (2,0) on.
TW_HD constexpr sliced_coordinates slice_coordinates(layout const& l, tree const& c) {
  return {linear_part(detail::modes_where(l, c, true)), moved_by(origin_of(l), l, c)};
}

/// The modes that c fixes.
TW_HD constexpr layout dice(layout const& l, tree const& c) {
  return detail::modes_where(l, c, false);
}

}  // namespace tw
