// SPDX-License-Identifier: Apache-2.0
// print.hpp  Layouts, trees, tilers and swizzles as text, the notation that parse.hpp reads.
//
// Ensures:  parse_layout(print(L)) == L; a layout without swizzle has no Sw<...> in front
// Example:  print("(4,8):(8,1)"_L).view() == "(4,8):(8,1)"      tests/layout/text_test.cpp
#pragma once

#include "tilewright/layout/tiler.hpp"
#include "tilewright/layout/value.hpp"

namespace tw {

/// Room for the longest layout: 32 numbers of 20 digits with full basis paths.
struct printed {
  char text[1536] = {};
  int length = 0;

  TW_HD constexpr void put(char c) { text[length++] = c; }
  TW_HD constexpr void put(char const* s) {
    for (; *s != '\0'; ++s) put(*s);
  }
  TW_HD constexpr void put(i64 v) {
    char digits[20] = {};
    int n = 0;
    if (v < 0) put('-');
    auto u = v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
    do {
      digits[n++] = static_cast<char>('0' + u % 10);
      u /= 10;
    } while (u != 0);
    while (n > 0) put(digits[--n]);
  }
  TW_HD constexpr void put(num a) {
    if (is_any(a)) return put('_');
    if (is_argument(a)) return put_argument(a);
    put(a.v);
    for (int k = is_basis(a) ? path_depth(a.unit) : 0; k-- > 0;) {
      put('@');
      put(i64{path_index(a.unit, k)});
    }
  }
  /// 8$0/128 for 8 * ceil(argument 0 / 128).
  TW_HD constexpr void put_argument(num a) {
    if (a.v == -1) put('-');
    if (magnitude(a.v) != 1) put(a.v);
    put('$');
    put(i64{argument_index(a)});
    if (argument_divisor(a) == 1) return;
    put('/');
    put(argument_divisor(a));
  }
  TW_HD constexpr void put(swizzle s) {
    put("Sw<");
    put(i64{s.bits});
    put(',');
    put(i64{s.base});
    put(',');
    put(i64{s.shift});
    put('>');
  }

  /// The text before a swizzled layout.
  TW_HD constexpr void put_swizzle(swizzle s, i64 offset) {
    put(s);
    put(" o ");
    put(offset);
    put(" o ");
  }

  /// Leaves [r.begin, r.end) of values under the parentheses of t, less the first `skip` ones.
  TW_HD constexpr void put_leaves(tree const& t, num const* values, leaf_range r, int skip) {
    int level = 0;
    for (int i = r.begin; i < r.end; ++i) {
      if (i > r.begin) put(',');
      int const opens = t.opened(i) - (i == r.begin ? skip : 0);
      level += opens;
      for (int k = opens; k > 0; --k) put('(');
      put(values[i]);
      for (int k = smaller(t.closed(i), level); k > 0; --k, --level) put(')');
    }
  }

  constexpr bool operator==(printed const&) const = default;
};

TW_HD constexpr printed print(tree const& t) {
  printed p;
  if (t.n == 0) p.put("()");
  p.put_leaves(t, t.leaf, {0, t.n}, 0);
  return p;
}

TW_HD constexpr printed print(swizzle s) {
  printed p;
  p.put(s);
  return p;
}

TW_HD constexpr printed print(layout const& l) {
  printed p;
  if (l.swizzled() || l.offset != 0) p.put_swizzle(l.sw, l.offset);
  if (l.shape.n == 0) {
    p.put("():()");
    return p;
  }
  p.put_leaves(l.shape, l.shape.leaf, {0, l.shape.n}, 0);
  p.put(':');
  p.put_leaves(l.shape, l.stride, {0, l.shape.n}, 0);
  return p;
}

namespace detail {

TW_HD constexpr void put(printed& p, tiler const& t) {
  if (!t.by_mode()) {
    layout const& l = t.cells;
    if (t.keeps()) return p.put('_');
    if (l.swizzled() || l.offset != 0) p.put_swizzle(l.sw, l.offset);
    if (l.shape.n == 0) return p.put("():()");
    p.put_leaves(l.shape, l.shape.leaf, {0, l.shape.n}, 0);
    if (l.stride[0].unit == unit_tile) return;
    p.put(':');
    return p.put_leaves(l.shape, l.stride, {0, l.shape.n}, 0);
  }
  p.put('(');
  for (int i = 0; i < rank(t); ++i) {
    if (i > 0) p.put(',');
    put(p, mode(t, i));
  }
  p.put(')');
}

}  // namespace detail

TW_HD constexpr printed print(tiler const& t) {
  printed p;
  detail::put(p, t);
  return p;
}

}  // namespace tw
