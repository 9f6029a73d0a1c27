// SPDX-License-Identifier: Apache-2.0
// parse.hpp  Text to layouts, trees, tilers and swizzles; "(8,64):(64,1)"_L at compile time.
//
//     layout    [Sw<bits,base,shift> o offset o] tree [: tree]     no stride: column-major
//     tree      number | _ | ( tree, tree, ... )                   a trailing comma is allowed
//     number    -12, 3@0@1 (basis), _4 (read as 4), 8$0/128 (8 * ceil(argument 0 / 128))
//     tiler     layout | number | _ | ( tiler, tiler, ... )
// Spaces do not matter.
// Needs:    the whole text, nothing more [TW0101 with the position], extents >= 1 [TW0114]
// Ensures:  parse_layout(print(L)) == L
// Example:  tests/layout/text_test.cpp
#pragma once

#include "tilewright/layout/construct.hpp"
#include "tilewright/layout/tiler.hpp"
#include "tilewright/layout/value.hpp"

namespace tw {

namespace detail {

/// A text and a position in it.
struct scanner {
  char const* text;
  int length;
  int at = 0;

  TW_HD constexpr void fail() const { refuse_text(at + 1, length); }
  TW_HD constexpr char peek() {
    while (at < length && text[at] == ' ') ++at;
    return at < length ? text[at] : '\0';
  }
  TW_HD constexpr bool take(char c) {
    if (peek() != c) return false;
    ++at;
    return true;
  }
  TW_HD constexpr void need(char c) {
    if (!take(c)) fail();
  }
  TW_HD constexpr bool digit() const { return at < length && text[at] >= '0' && text[at] <= '9'; }

  TW_HD constexpr i64 integer() {
    bool const negative = take('-');
    peek();
    if (!digit()) fail();
    i64 v = 0;
    for (; digit(); ++at) {
      i64 const d = text[at] - '0';
      if (v > (0x7FFFFFFFFFFFFFFF - d) / 10) fail();
      v = v * 10 + d;
    }
    return negative ? -v : v;
  }

  /// Index and divisor of a run-time argument, after '$'.
  TW_HD constexpr num argument(num factor) {
    i64 const index = integer();
    if (index < 0 || index >= max_arguments) refuse_argument_number(index, max_arguments - 1);
    i64 const divisor = take('/') ? integer() : 1;
    return times(arg(static_cast<int>(index), divisor), factor.v);
  }

  TW_HD constexpr num number() {
    if (take('_') && !digit()) return any;
    bool const negative = take('-');
    bool counted = take('$');
    num a{1};
    if (!counted) {
      peek();
      if (!digit()) fail();
      a.v = integer();
      counted = take('$');
    }
    if (negative) a.v = -a.v;
    if (counted) return argument(a);
    std::uint32_t path = 0;
    int levels = 0;
    while (take('@')) {  // inner index first: each further one is more outward
      i64 const index = integer();
      if (index < 0 || index > max_path_index) refuse_path(index, max_path_index);
      if (++levels > max_path_depth) refuse_path(levels, max_path_depth);
      path = (path << 4U) | static_cast<std::uint32_t>(index + 1);
    }
    if (a.v != 0) a.unit = path;
    return a;
  }

  TW_HD constexpr tree parse_tree() {
    if (!take('(')) return tree(number());
    tree t;
    while (!take(')')) {
      append(t, parse_tree());
      if (!take(',') && peek() != ')') fail();
    }
    wrap(t);
    return t;
  }

  TW_HD constexpr swizzle parse_swizzle() {
    need('S');
    need('w');
    need('<');
    i64 const bits = integer();
    need(',');
    i64 const base = integer();
    need(',');
    i64 const shift = integer();
    need('>');
    if (magnitude(bits) + magnitude(base) + magnitude(shift) > 62) refuse_swizzle(bits, 62);
    return make_swizzle(static_cast<int>(bits), static_cast<int>(base), static_cast<int>(shift));
  }

  TW_HD constexpr layout parse_layout() {
    swizzle sw;
    i64 offset = 0;
    if (peek() == 'S') {
      sw = parse_swizzle();
      need('o');
      offset = integer();
      need('o');
    }
    tree const shape = parse_tree();
    layout l = take(':') ? make_layout(shape, parse_tree()) : make_layout_left(shape);
    l.offset = offset;
    return swizzled(sw, l);
  }

  /// The parenthesis that opens here is closed and followed by ':': it is a shape, not a tuple.
  TW_HD constexpr bool shape_ahead() const {
    int level = 0;
    for (int i = at; i < length; ++i) {
      if (text[i] == '(') ++level;
      if (text[i] == ')' && --level == 0) {
        ++i;
        while (i < length && text[i] == ' ') ++i;
        return i < length && text[i] == ':';
      }
    }
    return false;
  }

  TW_HD constexpr tiler parse_tiler() {
    if (peek() == 'S' || (peek() == '(' && shape_ahead())) return parse_layout();
    if (!take('(')) {
      num const n = number();
      if (is_any(n)) return any;
      if (take(':')) return make_layout(tree(n), tree(number()));
      if (is_basis(n)) fail();
      return tw::number(n);
    }
    tiler t;
    while (!take(')')) {
      tiler const m = parse_tiler();
      if (m.cells.swizzled()) refuse_swizzled(m.cells.sw.bits, 0);
      int const leaves = t.cells.shape.n;
      append(t.cells, m.cells);  // refuses more than 16
      t.split |= m.split << (4 * leaves);
      if (!take(',') && peek() != ')') fail();
    }
    if (t.cells.shape.n == 0) fail();
    wrap(t.cells);
    t.split += 1;
    return t;
  }

  TW_HD constexpr void finish() {
    if (peek() != '\0') fail();
  }
};

}  // namespace detail

/// The text between positions `from` and `length`.
TW_HD constexpr layout parse_layout(char const* text, int length, int from = 0) {
  detail::scanner s{text, length, from};
  layout const l = s.parse_layout();
  s.finish();
  return l;
}
TW_HD constexpr tree parse_tree(char const* text, int length, int from = 0) {
  detail::scanner s{text, length, from};
  tree const t = s.parse_tree();
  s.finish();
  return t;
}
TW_HD constexpr tiler parse_tiler(char const* text, int length, int from = 0) {
  detail::scanner s{text, length, from};
  tiler const t = s.parse_tiler();
  s.finish();
  return t;
}
TW_HD constexpr swizzle parse_swizzle(char const* text, int length, int from = 0) {
  detail::scanner s{text, length, from};
  swizzle const w = s.parse_swizzle();
  s.finish();
  return w;
}

inline namespace literals {

consteval layout operator""_L(char const* text, decltype(sizeof(0)) length) {
  return parse_layout(text, static_cast<int>(length));
}

}  // namespace literals

}  // namespace tw
