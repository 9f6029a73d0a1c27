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
// Law:      D((t, r)) == L((T, complement(T, size(L)))((t, r))); D visits each offset of L once
// Ragged:   where the tile does not divide an extent of L, the extent counts as rounded up: the law
//           holds for that larger L, there are ceil(extent / tile) tiles, the last one sticks out
//           and the caller must predicate. The tile itself is never cut: that is refused.
// Run time: a mode of one run-time extent is cut by any tile: (M,K):(ld,1) by (128,64) is
//           ((128,64),(ceil(M/128),ceil(K/64))):((ld,1),(128 ld,64)). A tile that would end inside
//           a run-time extent followed by another one is refused [TW0131]; tiles are numbers
//           [TW0129]
// Tilers:   a tuple cuts mode by mode; modes beyond it are not cut and join the rest. _ leaves a
//           mode as it is: in zipped, tiled and flat divide it must be a pair (tile, rest) already.
// Needs:    what composition needs [TW0104-TW0107]; a tile with nested strides [TW0108]; no more
//           tilers than modes [TW0111]
// Example:  tests/layout/divide_test.cpp
#pragma once

#include "tilewright/layout/bind.hpp"
#include "tilewright/layout/complement.hpp"
#include "tilewright/layout/composition.hpp"

namespace tw {

namespace detail {

/// l, merged, with the extent rounded up that a block of consecutive indices would not divide.
TW_HD constexpr layout round_up_extent(layout const& l, i64 block) {
  flat_layout const f = merge(l, {0, l.shape.n}, true);
  bool open = true;  // the block reaches this leaf
  layout out;
  for (int k = 0; k < f.n; ++k) {
    num extent = f.extent[k];
    if (open && k + 1 < f.n) {
      if (is_argument(extent)) {
        if (!divided(extent, num{block}).exact) {
          refuse_argument_extent(block, argument_index(extent));
        }
        open = false;
      } else if (block % extent.v == 0) {
        block /= extent.v;
      } else {
        open = false;
        i64 const up = times(ceil_div(extent.v, block), block);
        if (block < extent.v && up != extent.v) {  // with other values it could be merged instead
          if (!is_static(l)) refuse_argument_extent(block, arguments_of(l) - 1);
          extent = num{up};
        }
      }
    }
    append(out.shape, tree(extent));
    out.stride[k] = f.stride[k];
  }
  if (out.shape.n > 1) wrap(out);
  return swizzled_as(out, l);
}

TW_HD constexpr layout divide_by_layout(layout const& l, layout const& tile) {
  gaps_of const g = find_gaps(tile);
  if (g.odd_stride != 0) refuse_overlap(g.odd_stride, g.odd_cover);
  layout const whole = round_up_extent(l, number(g.block));
  return composition(whole, make_layout(tile, repeat_block(g, tree(product_of(whole)))));
}

}  // namespace detail

TW_HD constexpr layout logical_divide(layout const& l, tiler const& t) {
  if (t.keeps()) return l;
  if (!t.by_mode()) return detail::divide_by_layout(l, as_layout(t));
  if (rank(t) > rank(l)) refuse_tiler_rank(rank(t), rank(l));
  layout out;
  for (int i = 0; i < rank(l); ++i) {
    detail::append(out, i < rank(t) ? logical_divide(mode(l, i), mode(t, i)) : mode(l, i));
  }
  detail::wrap(out);
  return swizzled_as(out, l);
}

/// n counts whole leaves of the shape and then a divisor of the next one: tiles of n fill it.
TW_HD constexpr bool evenly_divides(tree const& shape, i64 n) {
  for (int i = 0; i < shape.n; ++i) {
    if (is_argument(shape.leaf[i]) && divided(shape.leaf[i], num{n}).exact) return true;
    i64 const s = number(shape.leaf[i]);
    if (s % n == 0) return true;
    if (n % s != 0) return false;
    n /= s;
  }
  return n == 1;
}

namespace detail {

/// A divided or multiplied mode as (tile, rest), following the tiler's tuples.
struct two_parts {
  layout tile, rest;
};

/// Splits d, whose profile is that of `t` with a pair (tile, rest) at each of t's leaves; modes of
/// d beyond t join the rest. A mode of two modes that t keeps is a pair already; of other modes the
/// tile is one element.
TW_HD constexpr two_parts unzip(layout const& d, tiler const& t) {
  if (t.keeps() && (rank(d) != 2 || d.shape.is_leaf())) return {layout(1, num{0}), d};
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
