// SPDX-License-Identifier: Apache-2.0
// like.hpp  Compact layouts of the shape of another one, in its order.
//
//     make_layout_like     leaves in the order of the other's strides; stride 0 stays 0
//     make_fragment_like   for registers: mode 0 contiguous and column-major, the rest in the order
//                          of the other's strides, nothing shared
//
// Ensures:  the offsets are 0, 1, 2, ... once each (make_layout_like: apart from stride-0 modes);
//           equal strides go left to right
// Example:  make_layout_like((4,2,4):(36,0,9)) == (4,2,4):(4,0,1) tests/layout/construct_test.cpp
#pragma once

#include "tilewright/layout/modes.hpp"

namespace tw {

namespace detail {

/// Strides of leaves from `first` on, in ascending order of the ones they have, starting at `next`.
TW_HD constexpr layout repacked(layout l, int first, i64 next, bool keep_zeros) {
  num const* const old = l.stride;
  i64 key[max_leaves] = {};
  bool done[max_leaves] = {};
  for (int i = first; i < l.shape.n; ++i) key[i] = magnitude(old[i].v);
  for (int k = first; k < l.shape.n; ++k) {
    int least = -1;
    for (int i = first; i < l.shape.n; ++i) {
      if (!done[i] && (least < 0 || key[i] < key[least])) least = i;
    }
    done[least] = true;
    bool const skip = l.extent(least) == 1 || (keep_zeros && key[least] == 0);
    l.stride[least] = skip ? num{} : num{next};
    if (!skip) next = times(next, l.extent(least));
  }
  return l;
}

}  // namespace detail

TW_HD constexpr layout make_layout_like(layout const& l) {
  return detail::repacked(plain(l), 0, 1, true);
}

TW_HD constexpr layout make_fragment_like(layout const& like) {
  layout l = plain(like);
  int const first = mode_range(l.shape, 0).end;
  i64 next = 1;
  for (int i = 0; i < first; ++i) {
    l.stride[i] = l.extent(i) == 1 ? num{} : num{next};
    next = times(next, l.extent(i));
  }
  return detail::repacked(l, first, next, false);
}

}  // namespace tw
