// SPDX-License-Identifier: Apache-2.0
// like.hpp  Compact layouts of the shape of another one, in its order.
//
//     make_layout_like     leaves in the order of the other's strides; stride 0 stays 0
//     make_fragment_like   for registers: mode 0 contiguous and column-major, the rest in the order
//                          of the other's strides, nothing shared
//
// Run time: extents as for compact layouts; strides known at run time have no order [TW0133], and
//           come last, left to right, in a fragment
// Ensures:  the offsets are 0, 1, 2, ... once each (make_layout_like: apart from stride-0 modes);
//           equal strides go left to right
// Example:  make_layout_like((4,2,4):(36,0,9)) == (4,2,4):(4,0,1) tests/layout/construct_test.cpp
#pragma once

#include "tilewright/layout/construct.hpp"
#include "tilewright/layout/modes.hpp"

namespace tw {

namespace detail {

/// Strides of leaves from `first` on, in ascending order of the ones they have, starting at `next`.
TW_HD constexpr layout repacked(layout l, int first, num next, bool keep_zeros) {
  num const* const old = l.stride;
  i64 key[max_leaves] = {};
  bool done[max_leaves] = {};
  int ordered = 0;  // leaves that the order matters for
  for (int i = first; i < l.shape.n; ++i) {
    ordered += l.is_unit(i) || (keep_zeros && old[i].v == 0) ? 0 : 1;
  }
  for (int i = first; i < l.shape.n; ++i) {
    if (is_argument(old[i]) && keep_zeros) {
      refuse_argument_order(argument_index(old[i]), old[i].v);
    }
    key[i] = is_argument(old[i]) ? 0x7FFFFFFFFFFFFFFF : magnitude(old[i].v);
  }
  for (int k = first; k < l.shape.n; ++k) {
    int least = -1;
    for (int i = first; i < l.shape.n; ++i) {
      if (!done[i] && (least < 0 || key[i] < key[least])) least = i;
    }
    done[least] = true;
    bool const skip = l.is_unit(least) || (keep_zeros && key[least] == 0);
    l.stride[least] = skip ? num{} : next;
    if (!skip && --ordered > 0) next = times(next, l.shape.leaf[least]);
  }
  return l;
}

}  // namespace detail

TW_HD constexpr layout make_layout_like(layout const& l) {
  return detail::repacked(linear_part(l), 0, num{1}, true);
}

/// Registers for a shape: column-major.
TW_HD constexpr layout make_fragment_like(tree const& shape) { return make_layout_left(shape); }

TW_HD constexpr layout make_fragment_like(layout const& like) {
  layout l = linear_part(like);
  int const first = mode_range(l.shape, 0).end;
  num next{1};
  for (int i = 0; i < first; ++i) {
    l.stride[i] = l.is_unit(i) ? num{} : next;
    if (i + 1 < l.shape.n) next = times(next, l.shape.leaf[i]);
  }
  return detail::repacked(l, first, next, false);
}

}  // namespace tw
