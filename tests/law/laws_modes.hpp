// SPDX-License-Identifier: Apache-2.0
// laws_modes.hpp  Laws of mode lists, of order and congruence, of slices and of local tiles.
//
// See laws_shapes.hpp for how to read them.
// Example:  take_law(l, 1, 3, take(l, 1, 3))      tests/law/modes_test.cpp
#pragma once

#include "tests/law/laws_shapes.hpp"

namespace tw {

/// Law (take): modes begin .. end - 1.
///     mode(R, i) == mode(L, begin + i); rank(R) == end - begin
///     take((2,8,4):(8,1,16), 1, 3) == (8,4):(1,16)
constexpr bool take_law(layout const& l, int begin, int end, layout const& r) {
  bool same = !r.shape.is_leaf() && rank(r) == end - begin;
  for (int i = begin; same && i < end; ++i) same = mode(r, i - begin) == mode(l, i);
  return same;
}

/// Law (select): the modes that are named, in that order.
///     mode(R, i) == mode(L, which[i]); rank(R) == rank(which)
///     select((2,8,4):(8,1,16), (2,0)) == (4,2):(16,8)
constexpr bool select_law(layout const& l, tree const& which, layout const& r) {
  bool same = !r.shape.is_leaf() && rank(r) == which.n;
  for (int i = 0; same && i < which.n; ++i) {
    same = mode(r, i) == mode(l, static_cast<int>(which.leaf[i].v));
  }
  return same;
}

/// Law (group): modes begin .. end - 1 become one; the function stays.
///     mode(mode(R, begin), i) == mode(L, begin + i); R(i) == L(i)
///     group((2,8,4):(8,1,16), 1, 3) == (2,(8,4)):(8,(1,16))
constexpr bool group_law(layout const& l, int begin, int end, layout const& r) {
  if (rank(r) != rank(l) - (end - begin) + 1 || !meaning::same_function(l, r)) return false;
  for (int i = 0; i < rank(l); ++i) {
    bool const inside = i >= begin && i < end;
    int const at = i < begin ? i : inside ? begin : i - (end - begin) + 1;
    layout const m = inside ? mode(mode(r, at), i - begin) : mode(r, at);
    if (m != mode(l, i)) return false;
  }
  return rank(mode(r, begin)) == end - begin;
}

/// Law (append): one more mode after the others.
///     mode(R, i) == mode(L, i); mode(R, rank(L)) == M
///     append((6,2):(1,6), 4:0) == (6,2,4):(1,6,0)
constexpr bool append_law(layout const& l, layout const& m, layout const& r) {
  int const n = rank(l);
  bool same = rank(r) == n + 1 && linear_part(mode(r, n)) == linear_part(m) && r.sw == l.sw;
  for (int i = 0; same && i < n; ++i) same = mode(r, i) == mode(l, i);
  return same;
}

/// Law (append4): modes 1:0 after the others, up to rank 4.
///     mode(R, i) == mode(L, i), 1:0 from rank(L) on; rank(R) == max(rank(L), 4)
///     append4((6,2):(1,6)) == (6,2,1,1):(1,6,0,0)
constexpr bool append4_law(layout const& l, layout const& r) {
  bool same = rank(r) == (rank(l) > 4 ? rank(l) : 4);
  for (int i = 0; same && i < rank(r); ++i) {
    same = linear_part(mode(r, i)) == (i < rank(l) ? linear_part(mode(l, i)) : layout(1, 0));
  }
  return same;
}

/// Law (prepend): one more mode before the others.
///     mode(R, 0) == M; mode(R, 1 + i) == mode(L, i)
///     prepend((6,2):(1,6), 4:0) == (4,6,2):(0,1,6)
constexpr bool prepend_law(layout const& l, layout const& m, layout const& r) {
  bool same = rank(r) == rank(l) + 1 && linear_part(mode(r, 0)) == linear_part(m) && r.sw == l.sw;
  for (int i = 0; same && i < rank(l); ++i) same = mode(r, i + 1) == mode(l, i);
  return same;
}

/// Law (zip): rows become columns.
///     mode(mode(R, j), i) == mode(mode(L, i), j)
///     zip(((4,8),(2,3)):((1,4),(32,64))) == ((4,2),(8,3)):((1,32),(4,64))
constexpr bool zip_law(layout const& l, layout const& r) {
  if (rank(r) != rank(mode(l, 0))) return false;
  for (int j = 0; j < rank(r); ++j) {
    if (rank(mode(r, j)) != rank(l)) return false;
    for (int i = 0; i < rank(l); ++i) {
      if (mode(mode(r, j), i) != mode(mode(l, i), j)) return false;
    }
  }
  return true;
}

/// Law (flatten): the same leaves without inner parentheses.
///     R(i) == L(i); depth(R) <= 1; as many leaves
///     flatten((4,(2,3)):(1,(4,8))) == (4,2,3):(1,4,8)
constexpr bool flatten_law(layout const& l, layout const& r) {
  bool same = r.shape.n == l.shape.n && depth_law(r, l.shape.is_leaf() ? 0 : 1) && r.sw == l.sw;
  for (int k = 0; same && k < l.shape.n; ++k) {
    same = r.shape.leaf[k] == l.shape.leaf[k] && r.stride[k] == l.stride[k];
  }
  return same;
}

/// Law (elem_less): every leaf is less.
///     v == (a[k] < b[k] for all k)
///     elem_less((1,2), (2,3)) == 1
constexpr bool elem_less_law(tree const& a, tree const& b, bool v) {
  int less = 0;
  for (int k = 0; k < a.n; ++k) less += a.leaf[k].v < b.leaf[k].v ? 1 : 0;
  return v == (less == a.n);
}

/// Law (lex_less): the first leaf that differs is less.
///     some k with a[k] < b[k] and a[j] == b[j] for all j < k
///     lex_less((1,9), (2,0)) == 1
constexpr bool lex_less_law(tree const& a, tree const& b, bool v) {
  bool found = false;
  for (int k = 0; k < a.n; ++k) {
    bool here = a.leaf[k].v < b.leaf[k].v;
    for (int j = 0; j < k; ++j) here = here && a.leaf[j].v == b.leaf[j].v;
    found = found || here;
  }
  return v == found;
}

/// Law (colex_less): the last leaf that differs is less: the order of indices.
///     some k with a[k] < b[k] and a[j] == b[j] for all j > k
///     colex_less((1,9), (2,0)) == 0
constexpr bool colex_less_law(tree const& a, tree const& b, bool v) {
  bool found = false;
  for (int k = 0; k < a.n; ++k) {
    bool here = a.leaf[k].v < b.leaf[k].v;
    for (int j = k + 1; j < a.n; ++j) here = here && a.leaf[j].v == b.leaf[j].v;
    found = found || here;
  }
  return v == found;
}

/// Law (congruent): the same parentheses.
///     v == (the texts agree when each number is a dot)
///     congruent((2,(3,4)), (5,(6,7))) == 1
constexpr bool congruent_law(tree const& a, tree const& b, bool v) {
  return v == (meaning::outline(a) == meaning::outline(b));
}

/// Law (weakly_congruent): a has b's parentheses, or a number where b has a mode.
///     v == (each leaf of a stands for a mode of b)
///     weakly_congruent((2,3), (5,(6,7))) == 1
constexpr bool weakly_congruent_law(tree const& a, tree const& b, bool v) {
  return v == meaning::spans(a, b).ok;
}

/// Law (compatible): weakly congruent, and of equal sizes.
///     v == (each leaf of a stands for a mode of b with as many cells)
///     compatible((2,12), (2,(3,4))) == 1
constexpr bool compatible_law(tree const& a, tree const& b, bool v) {
  return v == meaning::refines(a, b);
}

/// Law (evenly_divides): tiles of n consecutive cells are boxes that fill the shape.
///     v == (the first n coordinates form a box whose extents divide those of S)
///     evenly_divides((4,6), 12) == 1
constexpr bool evenly_divides_law(tree const& s, i64 n, bool v) {
  i64 reach[max_leaves] = {};
  for (i64 i = 0; i < n && n <= meaning::cells(s); ++i) {
    meaning::digits const c(s, i);
    for (int k = 0; k < s.n; ++k) reach[k] = c.at[k] >= reach[k] ? c.at[k] + 1 : reach[k];
  }
  i64 box = 1;
  bool divides = n <= meaning::cells(s);
  for (int k = 0; divides && k < s.n; ++k) {
    box *= reach[k];
    divides = s.leaf[k].v % reach[k] == 0;
  }
  return v == (divides && box == n);
}

namespace meaning {

/// Walks the cells of l whose digits under the leaves of c that are `fixed` (numbers, or the _)
/// have the index that c says (0 for _), and compares their offsets with those of r, in order.
constexpr bool cells_where(layout const& l, tree const& c, bool numbers, layout const& r,
                           i64 offset) {
  spans const m(c, l.shape);
  i64 found = 0;
  for (i64 i = 0, n = cells(l); m.ok && i < n; ++i) {
    digits const d(l.shape, i);
    bool here = true;
    for (int j = 0; here && j < c.n; ++j) {
      if (is_any(c.leaf[j]) == numbers) continue;
      i64 index = 0;
      for (int k = m.begin[j + 1]; k-- > m.begin[j];) index = index * l.shape.leaf[k].v + d.at[k];
      here = index == (numbers ? c.leaf[j].v : 0);
    }
    if (!here) continue;
    if (found >= cells(r)) return false;
    if (at(r, found++) + offset != (numbers ? at(l, i) : at(linear_part(l), i))) return false;
  }
  return m.ok && found == cells(r);
}

}  // namespace meaning

/// Law (slice, swizzle_slice_static, swizzle_slice_tensor): some coordinates are fixed.
///     R(x) + offset == L(c with x instead of the _), for every x in order
///     slice((4,8):(8,1), (2,_)) == (8):(1)
///     swizzle_slice_static(Sw<3,1,3> o 0 o (16,8):(8,1), (1,_)) == ((8):(1),8)
///     swizzle_slice_tensor(Sw<3,2,3> o 0 o (2,128):(128,1), (_,119)) == (2):(112)
constexpr bool slice_law(layout const& l, tree const& c, layout const& r, i64 offset) {
  return meaning::cells_where(l, c, true, r, offset);
}

/// Law (dice): the modes that slice drops.
///     R(x) == L(c with x instead of the numbers and 0 instead of the _), the swizzle aside
///     dice((4,8):(8,1), (2,_)) == (4):(8)
constexpr bool dice_law(layout const& l, tree const& c, layout const& r) {
  return r.sw == l.sw && meaning::cells_where(l, c, false, linear_part(r), 0);
}

namespace meaning {

/// Cells x of boxes of `step` at places `first` of the modes of l (and every other place where it
/// is < 0), first inside the box, then from box to box: coordinate inner x + outer place. Compares
/// the offsets with r's, in order.
struct boxes {
  i64 count[2 * max_leaves] = {};   // first the extents inside, then those of the places
  i64 weight[2 * max_leaves] = {};  // how far one of them goes along its mode
  i64 start[max_leaves] = {};       // of each mode
};

/// The offsets of the cells of b in l are those of r, moved by `offset`, in order.
constexpr bool cells_of_boxes(layout const& l, boxes const& b, layout const& r, i64 offset) {
  int const modes = rank(l);
  layout part[max_leaves];
  for (int i = 0; i < modes; ++i) part[i] = linear_part(mode(l, i));
  i64 at_place[2 * max_leaves] = {};
  for (i64 found = 0;; ++found) {
    i64 sum = l.offset;
    for (int i = 0; i < modes; ++i) {
      sum += at(part[i],
                b.start[i] + at_place[i] * b.weight[i] + at_place[modes + i] * b.weight[modes + i]);
    }
    if (found >= cells(r) || at(r, found) + offset != swizzled(l.sw, sum)) return false;
    int k = 0;
    for (; k < 2 * modes && ++at_place[k] == b.count[k]; ++k) at_place[k] = 0;
    if (k == 2 * modes) return found + 1 == cells(r);
  }
}

}  // namespace meaning

/// Law (local_tile, local_tile_proj, local_tile_identity): one tile of a layout that tiles fill;
/// all places of a mode where the coordinate has _, after the tile.
///     R(x, p) + offset == L(x + tile * c), p instead of the _
///     local_tile((4,8):(8,1), (2,4), (1,_)) == (2,4,2):(8,1,4)
///     local_tile_proj((16,8):(1,16), (4,4,4), (1,2,_), (1,_,1)) == (4,4,2):(1,16,64)
///     local_tile_identity((8,8), (2,4), (1,1)) == (2,4):(1@0,1@1)
constexpr bool local_tile_law(layout const& l, tree const& tile, tree const& c, layout const& r,
                              i64 offset) {
  meaning::boxes b;
  for (int i = 0; i < rank(l); ++i) {
    i64 const box = i < rank(tile) ? meaning::cells(mode(tile, i)) : 1;
    bool const every = i >= rank(c) || is_any(mode(c, i).leaf[0]);
    b.count[i] = box;
    b.weight[i] = 1;
    b.start[i] = every ? 0 : box * mode(c, i).leaf[0].v;
    b.count[rank(l) + i] = every ? meaning::cells(mode(l, i)) / box : 1;
    b.weight[rank(l) + i] = box;
  }
  return meaning::cells_of_boxes(l, b, r, offset);
}

/// Law (local_partition): the cells of thread t where a block of threads covers L again and again.
///     R(p) + offset == L(c + extents(threads) * p), c the place with threads(c) == t
///     local_partition((4,8):(8,1), (2,4):(4,1), 6) == (2,2):(16,4)
constexpr bool local_partition_law(layout const& l, layout const& threads, i64 thread,
                                   layout const& r, i64 offset) {
  i64 place = 0;
  while (place < meaning::cells(threads) && meaning::at(threads, place) != thread) ++place;
  meaning::boxes b;
  for (int i = 0; i < rank(l); ++i) {
    i64 const extent = i < rank(threads) ? meaning::cells(mode(threads.shape, i)) : 1;
    b.start[i] = place % extent;
    place /= extent;
    b.count[i] = 1;
    b.count[rank(l) + i] = meaning::cells(mode(l, i)) / extent;
    b.weight[rank(l) + i] = extent;
  }
  return meaning::cells_of_boxes(l, b, r, offset);
}

}  // namespace tw
