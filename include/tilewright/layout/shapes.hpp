// SPDX-License-Identifier: Apache-2.0
// shapes.hpp  Arithmetic and order of shapes and coordinates.
//
// A shape divided by an integer is divided leaf by leaf: what a leaf uses up of the divisor is gone
// for the next. Divided by a shape, it is divided mode by mode; modes without a divisor stay.
// Run time: ceil($0 / 128) is $0/128; what compares needs numbers [TW0129], what divides without
// rest
//           needs factors that show it [TW0132]
// Needs:    shape_div: each leaf divides what is left of the divisor or is divided by it [TW0124]
// Example:  ceil_div((3,9), 4) == (1,5); shape_div((6,4), 12) == (1,2) tests/layout/shapes_test.cpp
#pragma once

#include "tilewright/layout/evaluate.hpp"

namespace tw {

namespace detail {

/// f applied to every mode of a and the divisor's mode of the same index; others stay.
template <class F>
TW_HD constexpr tree by_mode(tree const& a, tree const& b, F const& f) {
  if (rank(b) > rank(a) || a.is_leaf()) refuse_profile(rank(b), rank(a));
  tree out;
  for (int i = 0; i < rank(a); ++i) {
    append(out, i < rank(b) ? f(mode(a, i), mode(b, i)) : mode(a, i));
  }
  wrap(out);
  return out;
}

}  // namespace detail

TW_HD constexpr tree ceil_div(tree a, tree const& b) {
  if (!b.is_leaf()) {
    return detail::by_mode(a, b, [](tree const& x, tree const& y) { return ceil_div(x, y); });
  }
  num n = b.leaf[0];
  if (n.v < 1) refuse_extent(n.v, 1);
  for (int i = 0; i < a.n; ++i) {
    num const s = a.leaf[i];
    a.leaf[i] = ceil_div(s, n);
    if (i + 1 < a.n) n = ceil_div(n, s);
  }
  return a;
}

TW_HD constexpr tree shape_div(tree a, tree const& b) {
  if (!b.is_leaf()) {
    return detail::by_mode(a, b, [](tree const& x, tree const& y) { return shape_div(x, y); });
  }
  num n = b.leaf[0];
  if (n.v < 1) refuse_extent(n.v, 1);
  for (int i = 0; i < a.n; ++i) {
    num const s = a.leaf[i];
    bool const divides = divided(s, n).exact || divided(n, s).exact;
    if (!divides && (is_argument(s) || is_argument(n))) {
      refuse_argument_division(s.v, n.v);
    }
    if (!divides) refuse_shape_div(s.v, n.v);
    a.leaf[i] = ceil_div(s, n);
    if (i + 1 < a.n) n = ceil_div(n, s);
  }
  return a;
}

/// The smallest multiples of b's modes that hold a's.
TW_HD constexpr tree round_up(tree a, tree const& b) {
  if (!b.is_leaf()) {
    return detail::by_mode(a, b, [](tree const& x, tree const& y) { return round_up(x, y); });
  }
  if (!a.is_leaf()) refuse_profile(a.n, 1);
  i64 const n = number(b.leaf[0]);
  if (n < 1) refuse_extent(n, 1);
  a.leaf[0] = times(ceil_div(a.leaf[0], n), n);
  return a;
}

/// The size of each mode: product_each(((2,4),8)) == (8,8).
TW_HD constexpr tree product_each(tree const& a) {
  if (a.is_leaf()) return a;
  tree out;
  for (int i = 0; i < rank(a); ++i) detail::append(out, tree(product_of(mode(a, i))));
  detail::wrap(out);
  return out;
}

/// Sum of the products leaf by leaf; one profile [TW0110], numbers [TW0129].
TW_HD constexpr i64 inner_product(tree const& a, tree const& b) {
  if (!congruent(a, b)) refuse_profile(a.n, b.n);
  i64 sum = 0;
  for (int i = 0; i < a.n; ++i) sum = plus(sum, times(number(a.leaf[i]), number(b.leaf[i])));
  return sum;
}

/// a * b leaf by leaf; one profile [TW0110].
TW_HD constexpr tree elem_scale(tree a, tree const& b) {
  if (!congruent(a, b)) refuse_profile(a.n, b.n);
  for (int i = 0; i < a.n; ++i) a.leaf[i] = times(a.leaf[i], b.leaf[i]);
  return a;
}

/// Every leaf of a is less than b's.
TW_HD constexpr bool elem_less(tree const& a, tree const& b) {
  if (!congruent(a, b)) refuse_profile(a.n, b.n);
  for (int i = 0; i < a.n; ++i) {
    if (number(a.leaf[i]) >= number(b.leaf[i])) return false;
  }
  return true;
}

/// The first leaf that differs decides.
TW_HD constexpr bool lex_less(tree const& a, tree const& b) {
  if (!congruent(a, b)) refuse_profile(a.n, b.n);
  for (int i = 0; i < a.n; ++i) {
    if (a.leaf[i] != b.leaf[i]) return number(a.leaf[i]) < number(b.leaf[i]);
  }
  return false;
}

/// The last leaf that differs decides: the order of indices.
TW_HD constexpr bool colex_less(tree const& a, tree const& b) {
  if (!congruent(a, b)) refuse_profile(a.n, b.n);
  for (int i = a.n; i-- > 0;) {
    if (a.leaf[i] != b.leaf[i]) return number(a.leaf[i]) < number(b.leaf[i]);
  }
  return false;
}

/// A coordinate of `from` as a coordinate of `to`: the same index, mode by mode.
TW_HD constexpr tree crd2crd(tree const& c, tree const& from, tree const& to) {
  if (to.is_leaf()) return tree(crd2idx(c, from));
  if (from.is_leaf() || c.is_leaf()) return idx2crd(crd2idx(c, from), to);
  if (rank(c) != rank(to) || rank(from) != rank(to)) refuse_profile(rank(c), rank(to));
  tree out;
  for (int i = 0; i < rank(to); ++i) {
    detail::append(out, crd2crd(mode(c, i), mode(from, i), mode(to, i)));
  }
  detail::wrap(out);
  return out;
}

}  // namespace tw
