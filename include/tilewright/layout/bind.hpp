// SPDX-License-Identifier: Apache-2.0
// bind.hpp  Layouts with run-time arguments: how many they use, numbers in their place, views.
//
//     row_major_view()  ($0,$1):($2,1)     a matrix of $0 x $1, rows at a pitch of $2 elements
//     bound(row_major_view(), {3, 4, 8})   (3,4):(8,1)
//
// Law:      an operation Op of the algebra either refuses L or bound(Op(L), v) is the function that
//           Op(bound(L, v)) is, as far as Op rounds extents up alike (divide.hpp)
// Needs:    values of extents >= 1 [TW0114], of all arguments that are used
// Example:  tests/layout/argument_test.cpp
#pragma once

#include "tilewright/layout/value.hpp"

namespace tw {

/// Highest index of an argument that a occurs in, plus 1.
TW_HD constexpr int arguments_of(num a) { return is_argument(a) ? argument_index(a) + 1 : 0; }
TW_HD constexpr int arguments_of(tree const& t) {
  int most = 0;
  for (int i = 0; i < t.n; ++i) most = larger(most, arguments_of(t.leaf[i]));
  return most;
}
TW_HD constexpr int arguments_of(layout const& l) {
  int most = arguments_of(l.shape);
  for (int i = 0; i < l.shape.n; ++i) most = larger(most, arguments_of(l.stride[i]));
  return most;
}

/// No leaf is known at run time only.
TW_HD constexpr bool is_static(tree const& t) { return arguments_of(t) == 0; }
TW_HD constexpr bool is_static(layout const& l) { return arguments_of(l) == 0; }

/// The leaf with its value.
TW_HD constexpr num bound(num a, i64 const* args) {
  return is_argument(a) ? num{value_of(a, args)} : a;
}
TW_HD constexpr tree bound(tree t, i64 const* args) {
  for (int i = 0; i < t.n; ++i) t.leaf[i] = bound(t.leaf[i], args);
  return t;
}
/// The layout for these values of its arguments; extents must be at least 1 [TW0114].
TW_HD constexpr layout bound(layout l, i64 const* args) {
  l.shape = bound(l.shape, args);
  for (int i = 0; i < l.shape.n; ++i) {
    if (l.shape.leaf[i].v < 1) refuse_extent(l.shape.leaf[i].v, 1);
    l.stride[i] = bound(l.stride[i], args);
  }
  return l;
}
template <int K>
TW_HD constexpr layout bound(layout const& l, arguments<K> const& a) {
  if (arguments_of(l) > K) refuse_argument_number(arguments_of(l) - 1, K - 1);
  return bound(l, a.v);
}

/// A matrix ($0,$1), rows at pitch $2: arguments rows, columns, pitch.
TW_HD constexpr layout row_major_view() {
  return make_layout(make_tree(arg(0), arg(1)), make_tree(arg(2), 1));
}
/// A matrix ($0,$1), columns at pitch $2: arguments rows, columns, pitch.
TW_HD constexpr layout col_major_view() {
  return make_layout(make_tree(arg(0), arg(1)), make_tree(1, arg(2)));
}
/// A matrix ($0,$1) whose rows follow each other: arguments rows, columns.
TW_HD constexpr layout compact_row_major_view() {
  return make_layout(make_tree(arg(0), arg(1)), make_tree(arg(1), 1));
}
/// A matrix ($0,$1) whose columns follow each other: arguments rows, columns.
TW_HD constexpr layout compact_col_major_view() {
  return make_layout(make_tree(arg(0), arg(1)), make_tree(1, arg(0)));
}

}  // namespace tw
