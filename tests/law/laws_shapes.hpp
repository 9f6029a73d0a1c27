// SPDX-License-Identifier: Apache-2.0
// laws_shapes.hpp  Laws of construction, sizes, coordinates, lists of modes and integer tuples.
//
// Each predicate takes the operands of an operation and, last, a result; it says whether that
// result is right. A comment names the operations, states the law and gives examples that are run.
// docs/laws.md is written from these comments (gen/laws.py).
// Example:  make_layout_left_law(tree, make_layout_left(tree))     tests/law/construct_test.cpp
#pragma once

#include "tests/law/laws_meaning.hpp"

namespace tw {

/// Law (make_layout_left): the offset is the index.
///     R(i) == i; shape(R) == S
///     make_layout_left((4,8)) == (4,8):(1,4)
constexpr bool make_layout_left_law(tree const& s, layout const& r) {
  for (i64 i = 0, n = meaning::cells(r); i < n; ++i) {
    if (meaning::at(r, i) != i) return false;
  }
  return r.shape == s;
}

/// Law (make_layout_right): the offset is the index counted from the last leaf.
///     R(c) == c[n-1] + s[n-1] (c[n-2] + s[n-2] (...)); shape(R) == S
///     make_layout_right((4,8)) == (4,8):(8,1)
constexpr bool make_layout_right_law(tree const& s, layout const& r) {
  for (i64 i = 0, n = meaning::cells(r); i < n; ++i) {
    meaning::digits const c(s, i);
    i64 index = 0;
    for (int k = 0; k < s.n; ++k) index = index * s.leaf[k].v + c.at[k];
    if (meaning::at(r, i) != index) return false;
  }
  return r.shape == s;
}

/// Law (make_ordered_layout): compact; leaves follow each other in ascending order of their keys,
/// equal keys from left to right. A leaf of the order may stand for a whole mode.
///     stride[k] == product of the extents of the leaves before k in that order
///     make_ordered_layout((2,3,4), (2,0,1)) == (2,3,4):(12,1,3)
constexpr bool make_ordered_layout_law(tree const& s, tree const& order, layout const& r) {
  meaning::spans const m(order, s);
  i64 key[max_leaves] = {};
  for (int j = 0; j < order.n; ++j) {
    i64 less = 0;  // keys may be negative: count the smaller ones
    for (int i = 0; i < order.n; ++i) less += order.leaf[i].v < order.leaf[j].v ? 1 : 0;
    for (int k = m.begin[j]; k < m.begin[j + 1]; ++k) key[k] = less;
  }
  for (int k = 0; k < s.n; ++k) {
    num const want = s.leaf[k].v == 1 ? num{} : num{meaning::compact_stride(s, key, k)};
    if (r.stride[k] != want) return false;
  }
  return m.ok && r.shape == s;
}

/// Law (make_layout_like): the shape of L, compact, leaves in the order of L's strides; modes of
/// stride 0 keep it.
///     stride[k] == product of the extents of the leaves whose stride in L is smaller, not 0
///     make_layout_like((4,2,4):(36,0,9)) == (4,2,4):(4,0,1)
constexpr bool make_layout_like_law(layout const& l, layout const& r) {
  i64 key[max_leaves] = {};
  for (int k = 0; k < l.shape.n; ++k) {
    key[k] = l.stride[k].v == 0 ? -1 : l.stride[k].v < 0 ? -l.stride[k].v : l.stride[k].v;
  }
  for (int k = 0; k < l.shape.n; ++k) {
    bool const none = key[k] < 0 || l.shape.leaf[k].v == 1;
    if (r.stride[k].v != (none ? 0 : meaning::compact_stride(l.shape, key, k))) return false;
  }
  return r.shape == l.shape && !r.swizzled();
}

/// Law (make_fragment_like): the shape of L, every offset once; mode 0 first, column-major, then
/// the other leaves in the order of L's strides.
///     stride[k] == product of the extents of mode 0 and of the leaves with a smaller stride in L
///     make_fragment_like(((2,4),8):((8,64),1)) == ((2,4),8):((1,2),8)
constexpr bool make_fragment_like_law(layout const& l, layout const& r) {
  i64 key[max_leaves] = {};
  int const first = mode(l.shape, 0).n;
  for (int k = first; k < l.shape.n; ++k) {
    key[k] = 1 + (l.stride[k].v < 0 ? -l.stride[k].v : l.stride[k].v);
  }
  for (int k = 0; k < l.shape.n; ++k) {
    i64 const want = l.shape.leaf[k].v == 1 ? 0 : meaning::compact_stride(l.shape, key, k);
    if (r.stride[k].v != want) return false;
  }
  return r.shape == l.shape && !r.swizzled();
}

/// Law (make_identity_layout): the offset of a coordinate is that coordinate.
///     stride[k] == 1@path, where the path leads to leaf k of the shape; shape(R) == S
///     make_identity_layout((4,(2,3))) == (4,(2,3)):(1@0,(1@0@1,1@1@1))
constexpr bool make_identity_layout_law(tree const& s, layout const& r) {
  for (int k = 0; k < s.n; ++k) {
    tree part = s;
    int before = 0;  // leaves of s before `part`
    for (int level = 0; level < path_depth(r.stride[k].unit); ++level) {
      int const index = path_index(r.stride[k].unit, level);
      if (part.is_leaf() || index >= rank(part)) return false;
      for (int i = 0; i < index; ++i) before += mode(part, i).n;
      part = mode(part, index);
    }
    if (r.stride[k].v != 1 || before != k || !part.is_leaf()) return false;
  }
  return r.shape == s;
}

/// Law (size): the number of coordinates.
///     n == |{c : c is a coordinate of L}|
///     size((4,8):(8,1)) == 32
constexpr bool size_law(layout const& l, i64 n) {
  i64 at[max_leaves] = {};
  for (i64 count = 1;; ++count) {  // an odometer
    int k = 0;
    for (; k < l.shape.n && ++at[k] == l.shape.leaf[k].v; ++k) at[k] = 0;
    if (k == l.shape.n) return count == n;
  }
}

/// Law (cosize, coshape): elements from the smallest to the largest offset, 0 among them.
///     n == 1 + max of L(i) - min of L(i)
///     cosize((4,8):(1,5)) == 39
///     coshape((4,8):(8,1)) == 32
constexpr bool cosize_law(layout const& l, i64 n) {
  i64 largest = 0, smallest = 0;
  for (i64 const offset : meaning::offsets(l)) {
    largest = offset > largest ? offset : largest;
    smallest = offset < smallest ? offset : smallest;
  }
  return n == largest - smallest + 1;
}

/// Law (rank): the number of modes; a single number has one.
///     1 + commas inside the first pair of parentheses
///     rank((4,(2,3)):(1,(4,8))) == 2
constexpr bool rank_law(layout const& l, i64 r) {
  printed const p = print(l.shape);
  i64 commas = 0;
  for (int i = 0, level = 0; i < p.length; ++i) {
    level += (p.text[i] == '(' ? 1 : 0) - (p.text[i] == ')' ? 1 : 0);
    commas += p.text[i] == ',' && level == 1 ? 1 : 0;
  }
  return r == commas + 1;
}

/// Law (depth): how deep the parentheses go.
///     the largest number of parentheses open at once
///     depth((4,(2,3)):(1,(4,8))) == 2
constexpr bool depth_law(layout const& l, i64 d) {
  printed const p = print(l.shape);
  int deepest = 0;
  for (int i = 0, level = 0; i < p.length; ++i) {
    level += (p.text[i] == '(' ? 1 : 0) - (p.text[i] == ')' ? 1 : 0);
    deepest = level > deepest ? level : deepest;
  }
  return d == deepest;
}

/// Law (crd2idx): the index of a coordinate; a leaf may stand for a whole mode.
///     i == sum of c[j] * (product of the extents before the leaves that c[j] stands for)
///     crd2idx((1,(2,1)), (4,(3,5))) == 21
constexpr bool crd2idx_law(tree const& c, tree const& s, i64 index) {
  meaning::spans const m(c, s);
  for (int j = 0; j < c.n; ++j) {
    index -= c.leaf[j].v * meaning::cells_before(s, m.begin[j]);
  }
  return m.ok && index == 0;
}

/// Law (crd2idx3): the offset of a coordinate in shape and stride.
///     x == sum over the leaves k of digit[k] * d[k], the digits of the index c[j] in its mode
///     crd2idx3((1,7), (4,(3,5)), (10,(1,100))) == 211
constexpr bool crd2idx3_law(tree const& c, tree const& s, tree const& d, i64 offset) {
  meaning::spans const m(c, s);
  for (int j = 0; j < c.n; ++j) {
    i64 index = c.leaf[j].v;
    for (int k = m.begin[j]; k < m.begin[j + 1]; ++k) {
      bool const last = k + 1 == m.begin[j + 1];
      offset -= (last ? index : index % s.leaf[k].v) * d.leaf[k].v;
      index /= s.leaf[k].v;
    }
  }
  return m.ok && offset == 0;
}

/// Law (crd2idx_layout_int, swizzle_layout): the offset of an index.
///     x == swizzle(offset + sum of digit[k](i) * stride[k])
///     crd2idx_layout_int(5, (4,8):(8,1)) == 9
///     swizzle_layout(Sw<2,0,3> o 0 o (8,4):(1,8)) == Sw<2,0,3> o 0 o (8,4):(1,8)
constexpr bool at_law(layout const& l, i64 index, i64 offset) {
  return meaning::at(l, index) == offset;
}

/// Law (idx2crd): the coordinate of an index; digits towards zero for negative indices.
///     i == sum of c[k] * (product of the extents before k); |c[k]| < s[k] but for the last; the
///     profile of S
///     idx2crd(21, (4,(3,5))) == (1,(2,1))
constexpr bool idx2crd_law(i64 index, tree const& s, tree const& c) {
  for (int k = 0; k < s.n; ++k) {
    i64 const digit = index < 0 ? -c.leaf[k].v : c.leaf[k].v;
    if (digit < 0 || (k + 1 < s.n && digit >= s.leaf[k].v)) return false;
  }
  return meaning::outline(c) == meaning::outline(s) && crd2idx_law(c, s, index);
}

/// Law (idx2crd3): the coordinate that holds offset i in a compact layout, leaf by leaf.
///     c[k] == i / d[k] mod s[k], 0 where d[k] is 0
///     idx2crd3(9, (4,8), (8,1)) == (1,1)
constexpr bool idx2crd3_law(i64 index, tree const& s, tree const& d, tree const& c) {
  for (int k = 0; k < s.n; ++k) {
    i64 const digit = d.leaf[k].v == 0 ? 0 : index / d.leaf[k].v % s.leaf[k].v;
    if (c.leaf[k].v != digit) return false;
  }
  return meaning::outline(c) == meaning::outline(s);
}

/// Law (crd2crd): the same index in another shape, mode by mode where both are tuples.
///     crd2idx(R, to) == crd2idx(c, from), R a coordinate of `to`
///     crd2crd((0,(0,3)), (2,(2,4)), (2,8)) == (0,6)
constexpr bool crd2crd_law(tree const& c, tree const& from, tree const& to, tree const& r) {
  if (!to.is_leaf() && !from.is_leaf() && !c.is_leaf()) {
    if (rank(r) != rank(to) || r.is_leaf()) return false;
    for (int i = 0; i < rank(to); ++i) {
      if (!crd2crd_law(mode(c, i), mode(from, i), mode(to, i), mode(r, i))) return false;
    }
    return true;
  }
  meaning::spans const m(c, from);
  i64 index = 0;
  for (int j = 0; j < c.n; ++j) index += c.leaf[j].v * meaning::cells_before(from, m.begin[j]);
  return m.ok && idx2crd_law(index, to, r);
}

/// Law (ceil_div): how many blocks of b cover a; along a tuple, what a leaf uses up of the divisor
/// is gone for the next; a divisor that is a tuple divides mode by mode.
///     (q - 1) b < a <= q b for each leaf, then b becomes the smallest b' with a b' >= b
///     ceil_div((3,9), 4) == (1,5)
constexpr bool ceil_div_law(tree const& a, tree const& b, tree const& q) {
  if (meaning::outline(a) != meaning::outline(q)) return false;
  if (!b.is_leaf()) {
    for (int i = 0; i < rank(a); ++i) {
      bool const stays = i >= rank(b);
      if (stays ? mode(a, i) != mode(q, i) : !ceil_div_law(mode(a, i), mode(b, i), mode(q, i))) {
        return false;
      }
    }
    return true;
  }
  i64 divisor = b.leaf[0].v;
  for (int k = 0; k < a.n; ++k) {
    i64 const s = a.leaf[k].v;
    if ((q.leaf[k].v - 1) * divisor >= s || q.leaf[k].v * divisor < s) return false;
    i64 left = 1;
    while (left * s < divisor) ++left;
    divisor = left;
  }
  return true;
}

/// Law (shape_div): ceil_div where everything divides.
///     ceil_div's; for each leaf a multiple of b or b a multiple of a
///     shape_div((6,4), 12) == (1,2)
constexpr bool shape_div_law(tree const& a, tree const& b, tree const& q) {
  i64 divisor = b.leaf[0].v;
  for (int k = 0; b.is_leaf() && k < a.n; ++k) {
    i64 const s = a.leaf[k].v;
    if (s % divisor != 0 && divisor % s != 0) return false;
    divisor = divisor <= s ? 1 : divisor / s;
  }
  return ceil_div_law(a, b, q);
}

/// Law (round_up): the smallest multiple of b that is not below a, mode by mode.
///     R mod b == 0, a <= R < a + b
///     round_up((10,5), (4,2)) == (12,6)
constexpr bool round_up_law(tree const& a, tree const& b, tree const& r) {
  if (!b.is_leaf()) {
    if (rank(a) != rank(r)) return false;
    for (int i = 0; i < rank(a); ++i) {
      bool const stays = i >= rank(b);
      if (stays ? mode(a, i) != mode(r, i) : !round_up_law(mode(a, i), mode(b, i), mode(r, i))) {
        return false;
      }
    }
    return true;
  }
  i64 const n = b.leaf[0].v;
  i64 const up = r.leaf[0].v;
  return r.is_leaf() && up % n == 0 && up >= a.leaf[0].v && up < a.leaf[0].v + n;
}

}  // namespace tw
