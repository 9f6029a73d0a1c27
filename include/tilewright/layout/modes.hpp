// SPDX-License-Identifier: Apache-2.0
// modes.hpp  The modes of a layout as a list: take, select, group, append, prepend, zip, flatten.
//
// Needs:    modes that exist [TW0112]; for zip, modes of equal rank [TW0110]
// Ensures:  append, prepend and zip keep every mode's function; take and select drop the others
// Example:  group((2,4,8):(1,2,8), 1, 3) == (2,(4,8)):(1,(2,8))     tests/layout/modes_test.cpp
#pragma once

#include "tilewright/layout/value.hpp"

namespace tw {

/// Modes begin .. end - 1 as a layout of rank end - begin.
TW_HD constexpr layout take(layout const& l, int begin, int end) {
  layout out;
  for (int i = begin; i < end; ++i) detail::append(out, mode(l, i));
  if (end <= begin) refuse_mode(begin, end);
  detail::wrap(out);
  return swizzled_as(out, l);
}

/// The modes whose indices are the leaves of `which`, in that order.
TW_HD constexpr layout select(layout const& l, tree const& which) {
  layout out;
  for (int i = 0; i < which.n; ++i) {
    detail::append(out, mode(l, static_cast<int>(number(which.leaf[i]))));
  }
  detail::wrap(out);
  return swizzled_as(out, l);
}

/// Modes begin .. end - 1 become one mode.
TW_HD constexpr layout group(layout const& l, int begin, int end) {
  layout out;
  for (int i = 0; i < begin; ++i) detail::append(out, mode(l, i));
  detail::append(out, take(l, begin, end));
  for (int i = end; i < rank(l); ++i) detail::append(out, mode(l, i));
  detail::wrap(out);
  return swizzled_as(out, l);
}

/// One more mode after the others; a leaf becomes a pair.
TW_HD constexpr layout append_mode(layout const& l, layout const& m) {
  layout out;
  for (int i = 0; i < rank(l); ++i) detail::append(out, mode(l, i));
  detail::append(out, m);
  detail::wrap(out);
  return swizzled_as(out, l);
}

/// One more mode before the others.
TW_HD constexpr layout prepend_mode(layout const& l, layout const& m) {
  layout out;
  detail::append(out, m);
  for (int i = 0; i < rank(l); ++i) detail::append(out, mode(l, i));
  detail::wrap(out);
  return swizzled_as(out, l);
}

/// Modes 1:0 appended up to rank r.
TW_HD constexpr layout pad_rank(layout l, int r) {
  while (rank(l) < r) l = append_mode(l, layout(1, 0));
  return l;
}

/// ((a,b),(c,d)) becomes ((a,c),(b,d)).
TW_HD constexpr layout zip(layout const& l) {
  int const r = rank(mode(l, 0));
  layout out;
  for (int j = 0; j < r; ++j) {
    layout pair;
    for (int i = 0; i < rank(l); ++i) {
      layout const m = mode(l, i);
      if (rank(m) != r) refuse_profile(rank(m), r);
      detail::append(pair, mode(m, j));
    }
    detail::wrap(pair);
    detail::append(out, pair);
  }
  detail::wrap(out);
  return swizzled_as(out, l);
}

/// The leaves of l without inner parentheses.
TW_HD constexpr layout flatten(layout l) {
  l.shape = flatten(l.shape);
  return l;
}

}  // namespace tw
