// SPDX-License-Identifier: Apache-2.0
// coalesce.hpp  One function with as few leaves as possible.
//
//     coalesce((2,1,6):(1,6,2)) == 12:1           2*1 == 2: the second continues the first
//
// Law:      coalesce(L)(i) == L(i) for 0 <= i < size(L); depth <= 1; no extent 1 but in 1:0
// Run time: (4,$0):(1,4) is 4$0:1; leaves that continue each other for some values of the arguments
//           only stay apart, as does an extent that may be 1
// Profile:  coalesce(L, profile) merges only inside the modes that a leaf of the profile stands
//           for; modes beyond the profile are left alone. Each keeps its law as a layout.
// Needs:    a profile no finer than the shape [TW0110]; filter: strides that are known [TW0129]
// Example:  tests/layout/coalesce_test.cpp
#pragma once

#include "tilewright/layout/value.hpp"

namespace tw {

namespace detail {

/// n leaves, no parentheses. `open_ended`: the last leaf has no bound and stays even if it is 1.
struct flat_layout {
  int n = 0;
  num extent[max_leaves] = {};
  num stride[max_leaves] = {};
};

/// The leaf n:d begins where f's last one ends, whatever the run-time arguments are, and one leaf
/// can say both.
TW_HD constexpr bool continues(flat_layout const& f, num n, num d) {
  num const extent = f.extent[f.n - 1];
  num const stride = f.stride[f.n - 1];
  return can_multiply(extent, n) && can_multiply(stride, extent) && times(stride, extent) == d;
}

TW_HD constexpr flat_layout merge(layout const& l, leaf_range r, bool open_ended) {
  flat_layout f;
  for (int i = r.begin; i < r.end; ++i) {
    bool const last = open_ended && i + 1 == r.end;
    if (l.is_unit(i) && !last) continue;
    if (f.n > 0 && continues(f, l.shape.leaf[i], l.stride[i])) {
      f.extent[f.n - 1] = times(f.extent[f.n - 1], l.shape.leaf[i]);
    } else {
      f.extent[f.n] = l.shape.leaf[i];
      f.stride[f.n++] = l.stride[i];
    }
  }
  return f;
}

TW_HD constexpr layout merged(layout const& l, leaf_range r) {
  flat_layout const f = merge(l, r, false);
  layout out;
  for (int i = 0; i < f.n; ++i) append(out, f.extent[i], f.stride[i]);
  return close_piece(out);
}

}  // namespace detail

TW_HD constexpr layout coalesce(layout const& l) {
  return swizzled_as(detail::merged(l, {0, l.shape.n}), l);
}

TW_HD constexpr layout coalesce(layout const& l, tree const& profile) {
  if (profile.is_leaf()) return coalesce(l);
  if (rank(profile) > rank(l) || l.shape.is_leaf()) refuse_profile(rank(profile), rank(l));
  layout out;
  for (int i = 0; i < rank(l); ++i) {
    detail::append(out, i < rank(profile) ? coalesce(mode(l, i), mode(profile, i)) : mode(l, i));
  }
  detail::wrap(out);
  return swizzled_as(out, l);
}

/// Extents of the leaves with stride 0 become 1: what the layout reads once.
TW_HD constexpr layout filter_zeros(layout l) {
  for (int i = 0; i < l.shape.n; ++i) {
    if (number(l.stride[i]) == 0) l.shape.leaf[i] = num{1};
  }
  return l;
}

/// coalesce(filter_zeros(L)): every offset of L once more, none repeated by a stride 0.
TW_HD constexpr layout filter(layout const& l) { return coalesce(filter_zeros(l)); }
/// Only inside the modes that a leaf of the profile stands for.
TW_HD constexpr layout filter(layout const& l, tree const& profile) {
  if (profile.is_leaf()) return filter(l);
  if (rank(profile) > rank(l) || l.shape.is_leaf()) refuse_profile(rank(profile), rank(l));
  layout out;
  for (int i = 0; i < rank(l); ++i) {
    detail::append(out, i < rank(profile) ? filter(mode(l, i), mode(profile, i)) : mode(l, i));
  }
  detail::wrap(out);
  return swizzled_as(out, l);
}

}  // namespace tw
