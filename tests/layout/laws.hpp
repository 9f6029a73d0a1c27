// SPDX-License-Identifier: Apache-2.0
// laws.hpp  The laws of the algebra as predicates: for static_assert and for random layouts.
#pragma once

#include "tilewright/layout/layout.hpp"

namespace tw_test {

using tw::i64;
using tw::layout;
using tw::tiler;
using tw::tree;

/// The same offset for every index.
constexpr bool same_function(layout const& a, layout const& b) {
  if (size(a) != size(b)) return false;
  for (i64 i = 0; i < size(a); ++i) {
    if (a(i) != b(i)) return false;
  }
  return true;
}

/// coalesce(L)(i) == L(i), flat, and nothing left to merge.
constexpr bool coalesce_law(layout const& l) {
  layout const c = coalesce(l);
  return same_function(c, l) && depth(c) <= 1 && coalesce(c) == c && c.shape.n <= l.shape.n;
}

/// The function stays, and the modes of the profile stay compatible with what they were.
constexpr bool coalesce_profile_law(layout const& l, tree const& profile) {
  layout const c = coalesce(l, profile);
  return same_function(c, l) && rank(c) == (profile.is_leaf() ? rank(c) : rank(l));
}

/// R(c) == A(B(c)), in B's shape.
constexpr bool composition_law(layout const& a, layout const& b) {
  layout const r = composition(a, b);
  if (size(r) != size(b) || !compatible(b.shape, r.shape)) return false;
  for (i64 i = 0; i < size(b); ++i) {
    if (r(i) != a(b(i))) return false;
  }
  return true;
}

/// Increasing, disjoint from L except for 0, and together they reach m.
constexpr bool complement_law(layout const& l, i64 m) {
  layout const r = complement(l, m);
  for (i64 i = 0; i < size(r); ++i) {
    if (i > 0 && r(i) <= r(i - 1)) return false;
    for (i64 j = 0; i > 0 && j < size(l); ++j) {
      if (r(i) == l(j)) return false;
    }
  }
  return cosize(filter_zeros(l)) + cosize(r) - 1 >= m;
}

/// D visits the offsets of L once each: sums and sums of squares agree, as do the sizes.
constexpr bool rearranged(layout const& d, layout const& l) {
  if (size(d) != size(l)) return false;
  i64 sum = 0;
  i64 squares = 0;
  for (i64 i = 0; i < size(l); ++i) {
    sum += l(i) - d(i);
    squares += l(i) * l(i) - d(i) * d(i);
  }
  return sum == 0 && squares == 0;
}

/// The tile reads L through T; where the block divides L, (tile, rest) is a rearrangement.
constexpr bool divide_law(layout const& l, layout const& t) {
  layout const d = logical_divide(l, t);
  if (rank(d) != 2 || size(mode(d, 0)) != size(t)) return false;
  for (i64 i = 0; i < size(t); ++i) {
    if (d(i, 0) != l(t(i))) return false;
  }
  return size(d) != size(l) || rearranged(d, l);
}

/// The three other divides are the same cells under other coordinates.
constexpr bool divides_agree(layout const& l, tiler const& t) {
  layout const d = logical_divide(l, t);
  layout const z = zipped_divide(l, t);
  return size(z) == size(d) && rearranged(z, d) && same_function(z, tiled_divide(l, t)) &&
         same_function(z, flat_divide(l, t)) && rank(z) == 2;
}

/// Copies do not overlap: as many offsets as the block has, for each that B has.
constexpr bool product_law(layout const& a, layout const& b) {
  layout const p = logical_product(a, b);
  if (size(p) != size(a) * size(b)) return false;
  for (i64 i = 0; i < size(a); ++i) {
    for (i64 j = 0; j < size(b); ++j) {
      if (p(i, j) != a(i) + p(0, j)) return false;
    }
  }
  return true;
}

/// An involution that permutes aligned blocks and keeps the low bits.
constexpr bool swizzle_law(tw::swizzle s) {
  i64 const block = i64{1} << (s.base + s.bits + (s.shift < 0 ? -s.shift : s.shift));
  i64 sum = 0;
  for (i64 x = 0; x < 2 * block; ++x) {
    i64 const y = s(x);
    if (s(y) != x || y / block != x / block) return false;
    if (((x ^ y) & ((i64{1} << s.base) - 1)) != 0) return false;
    sum += y - x;
  }
  return sum == 0;
}

/// L(idx2crd(i)) == L(i), and the coordinate's index is i.
constexpr bool coordinate_law(layout const& l) {
  for (i64 i = 0; i < size(l); ++i) {
    tree const c = idx2crd(i, l.shape);
    if (l(c) != l(i) || crd2idx(c, l.shape) != i) return false;
  }
  return true;
}

}  // namespace tw_test
