// SPDX-License-Identifier: Apache-2.0
// slice.hpp  Fixing some coordinates: slice keeps the modes marked _, dice keeps the others.
//
//     slice((4,8):(8,1), (2,_)) == (8):(1), offset 16        dice((4,8):(8,1), (2,_)) == (4):(8)
//
// Law:      slice(L, c)(x) + offset == L(c with x in place of the _), for a plain layout; a
//           swizzled one carries the offset inside, before the swizzle
// Needs:    a coordinate whose profile is coarser than or equal to the shape's [TW0110]
// Example:  tests/layout/slice_test.cpp
#pragma once

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
  i64 offset = 0;  // to be added to the pointer; 0 for a swizzled layout, which carries it
};

TW_HD constexpr sliced slice(layout const& l, tree const& c) {
  layout kept = detail::modes_where(l, c, true);
  i64 const offset = crd2idx(c, l);
  if (!l.swizzled()) return {kept, plus(l.offset, offset)};
  kept.offset = plus(kept.offset, offset);
  return {kept, 0};
}

/// The modes that c fixes.
TW_HD constexpr layout dice(layout const& l, tree const& c) {
  return detail::modes_where(l, c, false);
}

}  // namespace tw
