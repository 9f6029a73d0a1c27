// SPDX-License-Identifier: Apache-2.0
// product.hpp  A layout repeated: A's block, arranged as B says.
//
//     logical_product(A, B) == (A, composition(C, B)), C the complement of A without an end
//
//     logical_product  ((block, times) by mode of a tuple of tilers), (A, times) for a layout
//     zipped_product   ((block modes), (times modes))
//     tiled_product    ((block modes), times mode 0, times mode 1, ...)
//     flat_product     (block modes ..., times modes ...)
//     blocked_product  ((block 0, times 0), (block 1, times 1), ...): a tile of tiles
//     raked_product    ((times 0, block 0), ...): the copies interleave
//
// Law:      P((a, b)) == A(a) + P((0, b)); the copies do not overlap where A is injective
// Needs:    what complement and composition need [TW0104-TW0109]
// Example:  tests/layout/product_test.cpp
#pragma once

#include "tilewright/layout/divide.hpp"

namespace tw {

namespace detail {

/// Where copies of a block may start: its gaps, then after it, without end.
TW_HD constexpr layout free_places(layout const& block) {
  gaps_of const g = find_gaps(block);
  layout places = g.gaps;
  append(places, 2, num{g.block});
  return close_piece(places);
}

}  // namespace detail

TW_HD constexpr layout logical_product(layout const& a, tiler const& t) {
  if (t.keeps()) return a;
  if (!t.by_mode()) {
    layout const b = as_layout(t);
    layout const block = linear_part(a);
    return swizzled_as(make_layout(block, composition(detail::free_places(block), b)), a);
  }
  if (rank(t) > rank(a)) refuse_tiler_rank(rank(t), rank(a));
  layout out;
  for (int i = 0; i < rank(a); ++i) {
    detail::append(out, i < rank(t) ? logical_product(mode(a, i), mode(t, i)) : mode(a, i));
  }
  detail::wrap(out);
  return swizzled_as(out, a);
}

TW_HD constexpr layout zipped_product(layout const& a, tiler const& t) {
  return swizzled_as(detail::zipped(detail::unzip(logical_product(a, t), t)), a);
}
TW_HD constexpr layout tiled_product(layout const& a, tiler const& t) {
  return swizzled_as(detail::tiled(detail::unzip(logical_product(a, t), t)), a);
}
TW_HD constexpr layout flat_product(layout const& a, tiler const& t) {
  return swizzled_as(detail::flat(detail::unzip(logical_product(a, t), t)), a);
}

namespace detail {

/// l as a tuple of at least r modes, filled up with 1:0.
TW_HD constexpr layout padded(layout const& l, int r) {
  layout out;
  if (l.shape.is_leaf()) {
    append(out, l);
  } else {
    for (int i = 0; i < rank(l); ++i) append(out, mode(l, i));
  }
  for (int i = rank(l); i < r; ++i) append(out, layout(1, 0));
  wrap(out);
  return swizzled_as(out, l);
}

/// ((a0, b0), (a1, b1), ...)
TW_HD constexpr layout zip_modes(layout const& a, layout const& b) {
  layout out;
  for (int i = 0; i < rank(a); ++i)
    append(out, make_layout(linear_part(mode(a, i)), linear_part(mode(b, i))));
  wrap(out);
  return out;
}

}  // namespace detail

TW_HD constexpr layout blocked_product(layout const& a, layout const& b) {
  int const r = rank(a) > rank(b) ? rank(a) : rank(b);
  layout const p = logical_product(detail::padded(a, r), detail::padded(b, r));
  return swizzled_as(detail::zip_modes(mode(p, 0), mode(p, 1)), a);
}

TW_HD constexpr layout raked_product(layout const& a, layout const& b) {
  int const r = rank(a) > rank(b) ? rank(a) : rank(b);
  layout const p = logical_product(detail::padded(a, r), detail::padded(b, r));
  return swizzled_as(detail::zip_modes(mode(p, 1), mode(p, 0)), a);
}

}  // namespace tw
