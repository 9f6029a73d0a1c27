// SPDX-License-Identifier: Apache-2.0
// divide.hpp  A layout cut into tiles: (inside the tile, which tile).
//
//     logical_divide(L, T) == composition(L, (T, complement(T, size(L))))
//
//     logical_divide  ((tile, rest) of mode 0, (tile, rest) of mode 1, ...)
//     zipped_divide   ((tile 0, tile 1, ...), (rest 0, rest 1, ...))
//     tiled_divide    ((tile 0, tile 1, ...), rest 0, rest 1, ...)
//     flat_divide     (tile 0, tile 1, ..., rest 0, rest 1, ...)
//
// Law:      D = divide(L, T): D((t, r)) == L((T, complement(T, size(L)))((t, r))); where T's tiles
//           fill L exactly, D visits the offsets of L once each. A tile that does not divide a
//           one-mode extent gives ceil(extent / tile) tiles; the last one sticks out and the
//           caller must predicate. Inside a nested mode this would be wrong and is refused.
// Tilers:   a tuple cuts mode by mode; modes beyond it are not cut and join the rest. _ in a tuple
//           takes the whole mode: in logical_divide the mode stays, elsewhere the tile is the mode
//           and its rest is 1:0 (CuTe swaps halves there if the mode has rank 2, else fails).
// Needs:    what composition and complement need [TW0104-TW0109], no more tilers than modes [TW0111]
// Example:  tests/layout/divide_test.cpp
#pragma once

#include "tilewright/layout/complement.hpp"
#include "tilewright/layout/composition.hpp"

namespace tw {

TW_HD constexpr layout logical_divide(layout const& l, tiler const& t) {
  if (t.keeps()) return l;
  if (!t.by_mode()) {
    layout tile_cells = as_layout(t);
    return composition(l, make_layout(tile_cells, complement(tile_cells, size(l))));
  }
  if (rank(t) > rank(l)) refuse_tiler_rank(rank(t), rank(l));
  layout out;
  for (int i = 0; i < rank(l); ++i) {
    detail::append(out, i < rank(t) ? logical_divide(mode(l, i), mode(t, i)) : mode(l, i));
  }
  detail::wrap(out);
  return swizzled_as(out, l);
}

namespace detail {

/// A divided or multiplied mode as (tile, rest), following the tiler's tuples.
struct two_parts {
  layout tile, rest;
};

/// Splits d, whose profile is that of `t` with a pair (tile, rest) at each of t's leaves; modes of
/// d beyond t join the rest.
TW_HD constexpr two_parts unzip(layout const& d, tiler const& t) {
  if (t.keeps()) return {d, layout(1, 0)};
  if (!t.by_mode()) return {mode(d, 0), mode(d, 1)};
  two_parts out;
  for (int i = 0; i < rank(d); ++i) {
    if (i >= rank(t)) {
      append(out.rest, mode(d, i));
      continue;
    }
    two_parts const m = unzip(mode(d, i), mode(t, i));
    append(out.tile, m.tile);
    append(out.rest, m.rest);
  }
  wrap(out.tile);
  wrap(out.rest);
  return out;
}

/// Appends the modes of l; a mode of one mode stays whole.
TW_HD constexpr void append_modes(layout& out, layout const& l) {
  if (rank(l) == 1) return append(out, l);
  for (int i = 0; i < rank(l); ++i) append(out, mode(l, i));
}

TW_HD constexpr layout zipped(two_parts const& p) {
  layout out;
  append(out, p.tile);
  append(out, p.rest);
  wrap(out);
  return out;
}
TW_HD constexpr layout tiled(two_parts const& p) {
  layout out;
  append(out, p.tile);
  append_modes(out, p.rest);
  wrap(out);
  return out;
}
TW_HD constexpr layout flat(two_parts const& p) {
  layout out;
  append_modes(out, p.tile);
  append_modes(out, p.rest);
  wrap(out);
  return out;
}

}  // namespace detail

TW_HD constexpr layout zipped_divide(layout const& l, tiler const& t) {
  return swizzled_as(detail::zipped(detail::unzip(logical_divide(l, t), t)), l);
}
TW_HD constexpr layout tiled_divide(layout const& l, tiler const& t) {
  return swizzled_as(detail::tiled(detail::unzip(logical_divide(l, t), t)), l);
}
TW_HD constexpr layout flat_divide(layout const& l, tiler const& t) {
  return swizzled_as(detail::flat(detail::unzip(logical_divide(l, t), t)), l);
}

}  // namespace tw
