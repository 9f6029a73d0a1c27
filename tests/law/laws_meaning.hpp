// SPDX-License-Identifier: Apache-2.0
// laws_meaning.hpp  Layouts by definition: the oracle that the laws compare with.
//
// Everything here is written from the essay in layout.hpp and walks cell by cell. It uses of the
// library only the classes, mode() and the printed text, so that a mistake of the algebra cannot
// hide in its own check. Slow; for tests.
// Example:  meaning::at("(4,8):(8,1)"_L, 5) == 9       tests/law/examples_test.cpp
#pragma once

#include <algorithm>
#include <vector>

#include "tilewright/layout/print.hpp"
#include "tilewright/layout/tiler.hpp"
#include "tilewright/layout/value.hpp"

namespace tw::meaning {

/// x with bit z flipped for every pair (y, z) of the swizzle whose bit y is set.
constexpr i64 swizzled(swizzle s, i64 x) {
  i64 result = x;
  for (int k = 0; k < s.bits; ++k) {
    int const low = s.base + k;
    int const high = low + (s.shift < 0 ? -s.shift : s.shift);
    if (((x >> (s.shift < 0 ? low : high)) & 1) != 0)
      result ^= i64{1} << (s.shift < 0 ? high : low);
  }
  return result;
}

/// The position of an index along leaf k: colexicographic, the last leaf has no bound.
struct digits {
  i64 at[max_leaves] = {};

  constexpr digits(tree const& shape, i64 index) {
    for (int k = 0; k < shape.n; ++k) {
      at[k] = k + 1 == shape.n ? index : index % shape.leaf[k].v;
      index /= shape.leaf[k].v;
    }
  }
};

/// Product of the extents before leaf `end`.
constexpr i64 cells_before(tree const& shape, int end) {
  i64 n = 1;
  for (int k = 0; k < end; ++k) n *= shape.leaf[k].v;
  return n;
}
constexpr i64 cells(tree const& shape) { return cells_before(shape, shape.n); }
constexpr i64 cells(layout const& l) { return cells(l.shape); }

/// Offset before the swizzle, along the strides of one unit only.
constexpr i64 sum_along(layout const& l, i64 index, std::uint32_t unit = unit_none) {
  i64 sum = unit == unit_none ? l.offset : 0;
  for (int k = 0; k < l.shape.n; ++k) {
    i64 const digit = k + 1 == l.shape.n ? index : index % l.shape.leaf[k].v;
    if (l.stride[k].unit == unit) sum += digit * l.stride[k].v;
    index /= l.shape.leaf[k].v;
  }
  return sum;
}

/// The offset of an index.
constexpr i64 at(layout const& l, i64 index) { return swizzled(l.sw, sum_along(l, index)); }

/// All offsets in the order of the indices.
constexpr std::vector<i64> offsets(layout const& l) {
  std::vector<i64> all(static_cast<std::size_t>(cells(l)), 0);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = at(l, static_cast<i64>(i));
  return all;
}
constexpr std::vector<i64> sorted(std::vector<i64> v) {
  std::sort(v.begin(), v.end());
  return v;
}
/// The set of offsets: sorted, each once.
constexpr std::vector<i64> image(layout const& l) {
  std::vector<i64> v = sorted(offsets(l));
  v.erase(std::unique(v.begin(), v.end()), v.end());
  return v;
}
constexpr bool is_injective(layout const& l) {
  return image(l).size() == static_cast<std::size_t>(cells(l));
}

/// Equal sizes, and equal offsets (or coordinates) for every index below the size.
constexpr bool same_function(layout const& a, layout const& b) {
  if (cells(a) != cells(b)) return false;
  for (i64 i = 0, n = cells(a); i < n; ++i) {
    if (at(a, i) != at(b, i)) return false;
    for (layout const* l : {&a, &b}) {
      for (int k = 0; k < l->shape.n; ++k) {
        std::uint32_t const unit = l->stride[k].unit;
        if (unit != unit_none && sum_along(a, i, unit) != sum_along(b, i, unit)) return false;
      }
    }
  }
  return true;
}

/// The leaves of `fine` that leaf j of `coarse` stands for: begin[j] .. begin[j + 1] - 1. Not ok
/// where the profiles differ.
struct spans {
  bool ok = true;
  int begin[max_leaves + 1] = {};
  int count = 0;

  constexpr spans(tree const& coarse, tree const& fine) {
    int from = 0;
    walk(coarse, fine, from);
    begin[count] = from;
  }

 private:
  constexpr void walk(tree const& coarse, tree const& fine, int& from) {
    if (coarse.is_leaf()) {
      begin[count++] = from;
      from += fine.n;
    } else if (fine.is_leaf() || rank(fine) != rank(coarse)) {
      ok = false;
    } else {
      for (int i = 0; ok && i < rank(coarse); ++i) walk(mode(coarse, i), mode(fine, i), from);
    }
  }
};

/// Every leaf of coarse stands for a mode of fine with as many cells.
constexpr bool refines(tree const& coarse, tree const& fine) {
  spans const s(coarse, fine);
  for (int j = 0; s.ok && j < coarse.n; ++j) {
    i64 n = 1;
    for (int k = s.begin[j]; k < s.begin[j + 1]; ++k) n *= fine.leaf[k].v;
    if (n != coarse.leaf[j].v) return false;
  }
  return s.ok;
}

/// The parentheses of a tree as text, a dot for each leaf.
constexpr printed outline(tree const& t) {
  printed const p = print(t);
  printed o;
  for (int i = 0; i < p.length; ++i) {
    char const c = p.text[i];
    bool const mark = c == '(' || c == ')' || c == ',';
    if (mark) o.put(c);
    if (!mark && (i == 0 || p.text[i - 1] == '(' || p.text[i - 1] == ',')) o.put('.');
  }
  return o;
}

/// Modes begin .. end - 1 of l side by side, without swizzle; a single mode is itself.
constexpr layout modes(layout const& l, int begin, int end) {
  if (end - begin == 1) return linear_part(mode(l, begin));
  layout out;
  for (int i = begin; i < end; ++i) detail::append(out, linear_part(mode(l, i)));
  detail::wrap(out.shape);
  return out;
}

/// Strides that count coordinates become numbers, 1024 times larger from one path of `like` to the
/// next: coordinates become offsets that can be compared.
constexpr layout numbered(layout l, layout const& like) {
  for (int k = 0; k < l.shape.n; ++k) {
    if (!is_basis(l.stride[k])) continue;
    i64 weight = 1;
    for (int j = 0; j < like.shape.n && like.stride[j].unit != l.stride[k].unit; ++j) {
      bool seen = false;
      for (int i = 0; i < j; ++i) seen = seen || like.stride[i].unit == like.stride[j].unit;
      if (!seen && is_basis(like.stride[j])) weight *= 1024;
    }
    l.stride[k] = num{l.stride[k].v * weight};
  }
  return l;
}

/// The stride that leaf k has in a compact layout whose leaves follow each other in ascending order
/// of key, equal keys from left to right; leaves of key < 0 are left out.
constexpr i64 compact_stride(tree const& shape, i64 const* key, int k) {
  i64 n = 1;
  for (int j = 0; j < shape.n; ++j) {
    if (key[j] >= 0 && (key[j] < key[k] || (key[j] == key[k] && j < k))) n *= shape.leaf[j].v;
  }
  return n;
}

}  // namespace tw::meaning
