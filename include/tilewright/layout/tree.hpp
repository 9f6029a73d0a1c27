// SPDX-License-Identifier: Apache-2.0
// tree.hpp  Shapes, coordinates and profiles: a nested tuple of numbers, as a flat value.
//
// The leaves stand in one array; the parentheses are two nibbles per leaf:
//
//     ((4,2),(2,8))     leaf    4   2   2   8
//                       open    2   0   1   0     parentheses opened before the leaf
//                       close   0   1   0   2     and closed after it
//
// So a tree is structural (usable as a template argument), is copied without allocation, and every
// walk is a loop over leaves. 8 and (8) differ: the first is a leaf, the second a tuple of one.
// Needs:    at most 16 leaves [TW0102], at most 15 parentheses at one place, no empty tuple inside
//           another tuple [TW0103]
// Ensures:  mode(make_tree(a, b, ...), i) == the i-th argument
// Example:  tests/layout/tree_test.cpp
#pragma once

#include "tilewright/layout/argument.hpp"

namespace tw {

inline constexpr int max_leaves = 16;

struct tree {
  int n = 0;  // leaves
  std::uint64_t open = 0;
  std::uint64_t close = 0;
  num leaf[max_leaves] = {};

  constexpr tree() = default;
  TW_HD constexpr tree(num v) : n(1) { leaf[0] = v; }
  TW_HD constexpr tree(i64 v) : tree(num{v}) {}
  TW_HD constexpr tree(int v) : tree(num{v}) {}

  TW_HD constexpr int opened(int i) const { return static_cast<int>((open >> (4 * i)) & 15U); }
  TW_HD constexpr int closed(int i) const { return static_cast<int>((close >> (4 * i)) & 15U); }
  /// A single number, not in parentheses.
  TW_HD constexpr bool is_leaf() const { return n == 1 && open == 0; }

  bool operator==(tree const&) const = default;
};

/// The wildcard: keep this mode.
inline constexpr num any{0, unit_any};

/// Leaves [begin, end).
struct leaf_range {
  int begin = 0, end = 0;
};

/// Number of modes; a leaf has one.
TW_HD constexpr int rank(tree const& t) {
  if (t.is_leaf()) return 1;
  int modes = 0;
  for (int i = 0, level = 0; i < t.n; ++i) {
    level += t.opened(i) - t.closed(i);
    if (level <= 1) ++modes;
  }
  return modes;
}

/// Depth of nesting; a leaf has 0.
TW_HD constexpr int depth(tree const& t) {
  int deepest = 0;
  for (int i = 0, level = 0; i < t.n; ++i) {
    level += t.opened(i);
    deepest = level > deepest ? level : deepest;
    level -= t.closed(i);
  }
  return deepest;
}

/// Product of the leaves, which must be numbers [TW0129].
TW_HD constexpr i64 size(tree const& t) {
  i64 product = 1;
  for (int i = 0; i < t.n; ++i) product = times(product, number(t.leaf[i]));
  return product;
}

/// Product of the leaves, of which one may be known at run time [TW0130].
TW_HD constexpr num product_of(tree const& t) {
  num product{1};
  for (int i = 0; i < t.n; ++i) product = times(product, t.leaf[i]);
  return product;
}

/// The leaves of mode i.
TW_HD constexpr leaf_range mode_range(tree const& t, int i) {
  int const r = rank(t);
  if (i < 0 || i >= r) refuse_mode(i, r);
  if (t.is_leaf()) return {0, 1};
  leaf_range m;
  for (int j = 0, level = 0, k = 0; j < t.n; ++j) {
    level += t.opened(j) - t.closed(j);
    if (level > 1) continue;
    m.end = j + 1;
    if (k++ == i) break;
    m.begin = m.end;
  }
  return m;
}

namespace detail {

/// The parentheses of leaves [r.begin, r.end) moved to the front.
TW_HD constexpr std::uint64_t cut(std::uint64_t nibbles, leaf_range r) {
  int const bits = 4 * (r.end - r.begin);
  nibbles >>= 4 * r.begin;
  return bits == 64 ? nibbles : nibbles & ((std::uint64_t{1} << bits) - 1);
}

TW_HD constexpr void add_open(tree& t, int i, int count) {
  if (t.opened(i) + count > 15) refuse_nesting(t.opened(i) + count, 15);
  t.open += static_cast<std::uint64_t>(count) << (4 * i);
}
TW_HD constexpr void add_close(tree& t, int i, int count) {
  if (t.closed(i) + count > 15) refuse_nesting(t.closed(i) + count, 15);
  t.close += static_cast<std::uint64_t>(count) << (4 * i);
}

/// The outline (leaves empty) of mode i, whose leaves are r.
TW_HD constexpr tree mode_outline(tree const& t, leaf_range r) {
  tree m;
  m.n = r.end - r.begin;
  m.open = cut(t.open, r);
  m.close = cut(t.close, r);
  if (!t.is_leaf()) {
    if (r.begin == 0) m.open -= 1;
    if (r.end == t.n) m.close -= std::uint64_t{1} << (4 * (m.n - 1));
  }
  return m;
}

/// Appends the outline of b to a; false where b is empty.
TW_HD constexpr void append_outline(tree& a, tree const& b) {
  if (b.n == 0) refuse_nesting(0, 1);
  if (a.n + b.n > max_leaves) refuse_leaves(a.n + b.n, max_leaves);
  a.open |= b.open << (4 * a.n);
  a.close |= b.close << (4 * a.n);
  a.n += b.n;
}

/// Puts parentheses around everything.
TW_HD constexpr void wrap(tree& t) {
  if (t.n == 0) return;
  add_open(t, 0, 1);
  add_close(t, t.n - 1, 1);
}

TW_HD constexpr void append(tree& a, tree const& b) {
  int const at = a.n;
  append_outline(a, b);
  for (int i = 0; i < b.n; ++i) a.leaf[at + i] = b.leaf[i];
}

}  // namespace detail

/// Mode i; a leaf is its own mode 0.
TW_HD constexpr tree mode(tree const& t, int i) {
  leaf_range const r = mode_range(t, i);
  tree m = detail::mode_outline(t, r);
  for (int j = 0; j < m.n; ++j) m.leaf[j] = t.leaf[r.begin + j];
  return m;
}

/// The tuple (a, b, ...). Arguments are trees or integers.
template <class... T>
TW_HD constexpr tree make_tree(T const&... modes) {
  tree t;
  (detail::append(t, tree(modes)), ...);
  detail::wrap(t);
  return t;
}
template <class... T>
TW_HD constexpr tree make_shape(T const&... modes) {
  return make_tree(modes...);
}
template <class... T>
TW_HD constexpr tree make_coord(T const&... modes) {
  return make_tree(modes...);
}

/// The leaves of t in one tuple without inner parentheses; a leaf stays a leaf.
TW_HD constexpr tree flatten(tree t) {
  if (t.is_leaf() || t.n == 0) return t;
  t.open = 1;
  t.close = std::uint64_t{1} << (4 * (t.n - 1));
  return t;
}

/// Where each leaf of a coarse tree lies in a finer one: leaf j covers [at[j], at[j + 1]).
struct matching {
  bool ok = false;
  int at[max_leaves + 1] = {};
};

/// Matches the profile of `coarse` with that of `fine`: every leaf of coarse stands for a whole
/// mode of fine. ok == weakly_congruent(coarse, fine).
TW_HD constexpr matching match(tree const& coarse, tree const& fine) {
  matching m;
  int p = 0;
  int level = 0;  // parentheses open outside the current mode, the same in both trees
  for (int j = 0; j < coarse.n; ++j) {
    if (p >= fine.n || fine.opened(p) < coarse.opened(j)) return m;
    level += coarse.opened(j);
    int inside = level - coarse.opened(j);
    do {
      inside += fine.opened(p) - fine.closed(p);
      ++p;
    } while (inside > level && p < fine.n);
    level -= coarse.closed(j);
    if (inside != level) return m;
    m.at[j + 1] = p;
  }
  m.ok = p == fine.n;
  return m;
}

/// Equal parentheses around equal numbers of leaves.
TW_HD constexpr bool congruent(tree const& a, tree const& b) {
  return a.n == b.n && a.open == b.open && a.close == b.close;
}
/// Every leaf of a stands for a mode of b.
TW_HD constexpr bool weakly_congruent(tree const& a, tree const& b) { return match(a, b).ok; }

/// Every leaf of a stands for a mode of b of the same size: coordinates of a are coordinates of b.
/// Sizes that would have to be equal at run time are not known to be [TW0129].
TW_HD constexpr bool compatible(tree const& a, tree const& b) {
  matching const m = match(a, b);
  if (!m.ok) return false;
  for (int j = 0; j < a.n; ++j) {
    num product{1};
    for (int i = m.at[j]; i < m.at[j + 1]; ++i) product = times(product, b.leaf[i]);
    if (product == a.leaf[j]) continue;
    if (number(product) != number(a.leaf[j])) return false;
  }
  return true;
}

}  // namespace tw
