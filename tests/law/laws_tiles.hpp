// SPDX-License-Identifier: Apache-2.0
// laws_tiles.hpp  Laws of divides, products, tile_to_shape, recasts and swizzles.
//
// See laws_shapes.hpp for how to read them.
// Example:  logical_divide_law(l, t, logical_divide(l, t))     tests/law/tiles_test.cpp
#pragma once

#include "tests/law/laws_algebra.hpp"

namespace tw {

namespace meaning {

/// How many cells the tiles of T have together: those of L, the extent rounded up that a block of T
/// (the tile and its gaps) does not divide. Leaves that continue each other are one extent.
constexpr i64 cells_of_tiles(layout const& l, layout const& t) {
  std::vector<i64> extents;
  num next;  // the stride that would continue the extent before
  for (int k = 0; k < l.shape.n; ++k) {
    i64 const n = l.shape.leaf[k].v;
    if (n == 1 && k + 1 < l.shape.n) continue;
    bool const continues = !extents.empty() && l.stride[k] == next;
    if (!continues) extents.push_back(1);
    extents.back() *= n;
    next = num{l.stride[k].v * n, l.stride[k].v == 0 ? unit_none : l.stride[k].unit};
    if (continues) next = num{l.stride[k].v * n, next.unit};
  }
  i64 block = 1;
  for (int k = 0; k < t.shape.n; ++k) {
    if (t.shape.leaf[k].v > 1) block = larger(block, t.shape.leaf[k].v * t.stride[k].v);
  }
  i64 all = 1;  // what T repeats by a stride 0 is repeated
  for (int k = 0; k < t.shape.n; ++k) all *= t.stride[k].v == 0 ? t.shape.leaf[k].v : 1;
  for (std::size_t k = 0; k < extents.size(); ++k) {
    bool const last = k + 1 == extents.size();
    bool const whole = !last && block % extents[k] == 0;
    i64 const tiles = (extents[k] + block - 1) / block;
    all *= whole ? extents[k] : tiles * block;
    block = whole ? block / extents[k] : 1;
  }
  return all;
}

/// The tile reads L through T. Tile and rest together visit each offset of L as often as L does;
/// where the tile does not divide L, the last tiles reach beyond it.
constexpr bool divided(layout const& l, layout const& t, layout const& tile, layout const& rest) {
  for (i64 i = 0, n = cells(t); i < n; ++i) {
    if (at(tile, i) != at(l, at(t, i))) return false;
  }
  std::vector<i64> const visited = sums(offsets(tile), offsets(rest));
  std::vector<i64> const all = sorted(offsets(l));
  return cells(tile) == cells(t) && static_cast<i64>(visited.size()) == cells_of_tiles(l, t) &&
         std::includes(visited.begin(), visited.end(), all.begin(), all.end());
}

/// Where the copies of a block may start: 0, then again and again the smallest number at which a
/// copy overlaps none of the earlier ones. The first `count`.
constexpr std::vector<i64> free_places(std::vector<i64> const& block, i64 count) {
  std::vector<char> used;
  std::vector<i64> places;
  for (i64 start = 0; static_cast<i64>(places.size()) < count; ++start) {
    bool free = true;
    used.resize(static_cast<std::size_t>(start + block.back() + 1), 0);
    for (i64 const x : block) free = free && !used[static_cast<std::size_t>(start + x)];
    if (!free) continue;
    for (i64 const x : block) used[static_cast<std::size_t>(start + x)] = true;
    places.push_back(start);
  }
  return places;
}

/// The block is A; copy j starts at the B(j)-th free place, or, where A's strides are not nested,
/// at one that overlaps no other copy.
constexpr bool multiplied(layout const& a, layout const& b, layout const& block,
                          layout const& copies) {
  if (!same_function(linear_part(a), linear_part(block)) || cells(copies) != cells(b)) return false;
  std::vector<i64> const which = offsets(b);
  std::vector<i64> const image_of_a = image(linear_part(a));
  if (is_nested(a)) {
    std::vector<i64> const places = free_places(image_of_a, sorted(which).back() + 1);
    for (std::size_t j = 0; j < which.size(); ++j) {
      if (at(copies, static_cast<i64>(j)) != places[static_cast<std::size_t>(which[j])]) {
        return false;
      }
    }
    return true;
  }
  std::vector<i64> const all = sums(image_of_a, image(copies));
  return std::adjacent_find(all.begin(), all.end()) == all.end() &&
         image(copies).size() == image(b).size();
}

using pair_law = bool (*)(layout const&, layout const&, layout const&, layout const&);

/// The law of two parts (tile, rest), mode by mode along a tuple of tilers; modes beyond it join
/// the rest. _ finds the two parts of a mode of two modes already there; of other modes the tile is
/// one cell and the mode the rest.
constexpr bool by_tiler(pair_law law, layout const& l, tiler const& t, layout const& tile,
                        layout const& rest) {
  bool const pair = rank(l) == 2 && !l.shape.is_leaf();
  if (t.keeps() && !pair) return tile == layout(1, num{0}) && rest == l;
  if (t.keeps()) return tile == mode(l, 0) && rest == mode(l, 1);
  if (!t.by_mode()) return law(l, as_layout(t), tile, rest);
  if (rank(tile) != rank(t) || rank(rest) != rank(l)) return false;
  for (int i = 0; i < rank(l); ++i) {
    bool const holds = i < rank(t)
                           ? by_tiler(law, mode(l, i), mode(t, i), mode(tile, i), mode(rest, i))
                           : mode(rest, i) == mode(l, i);
    if (!holds) return false;
  }
  return true;
}

/// The modes begin .. of r as one, as they were before they were spread out.
constexpr layout gathered(layout const& r, int begin, int end) {
  return begin >= end ? layout(1, 0) : modes(r, begin, end);
}

/// Equal swizzles and equal offsets inside them.
constexpr bool same_swizzle(layout const& a, layout const& b) {
  return a.sw == b.sw && a.offset == b.offset;
}

/// The four ways in which a divide or a product arranges its two parts.
constexpr bool logical(pair_law law, layout const& l, tiler const& t, layout const& r) {
  if (t.keeps()) return r == l;
  if (!t.by_mode()) return rank(r) == 2 && law(l, as_layout(t), mode(r, 0), mode(r, 1));
  bool same = rank(r) == rank(l);
  for (int i = 0; same && i < rank(l); ++i) {
    same =
        i < rank(t) ? logical(law, mode(l, i), mode(t, i), mode(r, i)) : mode(r, i) == mode(l, i);
  }
  return same;
}
constexpr bool zipped(pair_law law, layout const& l, tiler const& t, layout const& r) {
  return rank(r) == 2 && by_tiler(law, l, t, mode(r, 0), mode(r, 1));
}
constexpr bool tiled(pair_law law, layout const& l, tiler const& t, layout const& r) {
  return rank(r) >= 2 && by_tiler(law, l, t, mode(r, 0), gathered(r, 1, rank(r)));
}
/// `inside`: rank of the tile of a divide (that of T), or of the block of a product (that of L).
constexpr bool flat(pair_law law, layout const& l, tiler const& t, layout const& r, int inside) {
  int const k = t.by_mode() ? rank(t) : inside;
  return rank(r) > k && by_tiler(law, l, t, gathered(r, 0, k), gathered(r, k, rank(r)));
}

}  // namespace meaning

/// Law (logical_divide, swizzle_logical_divide): L cut into tiles: (inside the tile, which tile).
///     D(i, 0) == L(T(i)) for i < size(T); D visits each offset of L as often as L does (where T
///     does not divide L the last tiles reach beyond); a tuple cuts mode by mode, _ keeps a mode
///     logical_divide((4,8):(8,1), (2,4)) == ((2,2),(4,2)):((8,16),(1,4))
///     swizzle_logical_divide(Sw<3,2,3> o 0 o (4,64):(64,1), (1,8)) ==
///         Sw<3,2,3> o 0 o ((1,4),(8,8)):((0,64),(1,8))
constexpr bool logical_divide_law(layout const& l, tiler const& t, layout const& r) {
  return meaning::same_swizzle(l, r) &&
         meaning::logical(meaning::divided, linear_part(l), t, linear_part(r));
}

/// Law (zipped_divide, zipped_divide_ragged, identity_zipped_divide): ((tiles), (rests)).
///     (mode(mode(D, 0), i), mode(mode(D, 1), i)) is logical_divide(mode(L, i), T_i); rank(D) == 2
///     zipped_divide((4,8):(8,1), (2,4)) == ((2,4),(2,2)):((8,1),(16,4))
///     zipped_divide_ragged((8,2):(2,1), (5,2)) == ((5,2),(2,1)):((2,1),(10,0))
///     identity_zipped_divide((4,8):(1@0,1@1), (2,4)) == ((2,4),(2,2)):((1@0,1@1),(2@0,4@1))
constexpr bool zipped_divide_law(layout const& l, tiler const& t, layout const& r) {
  return meaning::same_swizzle(l, r) &&
         meaning::zipped(meaning::divided, meaning::numbered(linear_part(l), l), t,
                         meaning::numbered(linear_part(r), l));
}

/// Law (tiled_divide): ((tiles), rest 0, rest 1, ...).
///     zipped_divide's, its second mode spread out
///     tiled_divide((4,8):(8,1), (2,4)) == ((2,4),2,2):((8,1),16,4)
constexpr bool tiled_divide_law(layout const& l, tiler const& t, layout const& r) {
  return meaning::same_swizzle(l, r) &&
         meaning::tiled(meaning::divided, linear_part(l), t, linear_part(r));
}

/// Law (flat_divide): (tile 0, tile 1, ..., rest 0, rest 1, ...).
///     zipped_divide's, both modes spread out
///     flat_divide((4,8):(8,1), (2,4)) == (2,4,2,2):(8,1,16,4)
constexpr bool flat_divide_law(layout const& l, tiler const& t, layout const& r) {
  return meaning::same_swizzle(l, r) &&
         meaning::flat(meaning::divided, linear_part(l), t, linear_part(r), rank(t));
}

/// Law (logical_product, logical_product_tiler): A's block, repeated as B says.
///     P(i, j) == A(i) + C(B(j)), C(0), C(1), ... the places where copies of A overlap no other,
///     in ascending order; a tuple multiplies mode by mode
///     logical_product((2,2):(4,1), 6:1) == ((2,2),(2,3)):((4,1),(2,8))
///     logical_product_tiler((2,4):(4,1), (3,2)) == ((2,3),(4,2)):((4,1),(1,4))
constexpr bool logical_product_law(layout const& a, tiler const& t, layout const& r) {
  return meaning::same_swizzle(a, r) &&
         meaning::logical(meaning::multiplied, linear_part(a), t, linear_part(r));
}

/// Law (zipped_product, zipped_product_tiler): ((blocks), (copies)).
///     (mode(mode(P, 0), i), mode(mode(P, 1), i)) is logical_product(mode(A, i), T_i)
///     zipped_product((2,2):(4,1), 6:1) == ((2,2),(2,3)):((4,1),(2,8))
///     zipped_product_tiler((2,4):(4,1), (3,2)) == ((2,4),(3,2)):((4,1),(1,4))
constexpr bool zipped_product_law(layout const& a, tiler const& t, layout const& r) {
  return meaning::same_swizzle(a, r) &&
         meaning::zipped(meaning::multiplied, linear_part(a), t, linear_part(r));
}

/// Law (tiled_product, tiled_product_tiler): ((blocks), copies 0, copies 1, ...).
///     zipped_product's, its second mode spread out
///     tiled_product((2,2):(4,1), 6:1) == ((2,2),2,3):((4,1),2,8)
///     tiled_product_tiler((2,4):(4,1), (3,2)) == ((2,4),3,2):((4,1),1,4)
constexpr bool tiled_product_law(layout const& a, tiler const& t, layout const& r) {
  return meaning::same_swizzle(a, r) &&
         meaning::tiled(meaning::multiplied, linear_part(a), t, linear_part(r));
}

/// Law (flat_product, flat_product_tiler): (block 0, ..., copies 0, ...).
///     zipped_product's, both modes spread out
///     flat_product((2,2):(4,1), 6:1) == (2,2,2,3):(4,1,2,8)
///     flat_product_tiler((2,4):(4,1), (3,2)) == (2,4,3,2):(4,1,1,4)
constexpr bool flat_product_law(layout const& a, tiler const& t, layout const& r) {
  return meaning::same_swizzle(a, r) &&
         meaning::flat(meaning::multiplied, linear_part(a), t, linear_part(r), rank(a));
}

namespace meaning {

/// Mode i of r is a pair; its part `block` is mode i of A, the other parts are the copies of B.
constexpr bool arranged(layout const& a, layout const& b, layout const& r, int block) {
  layout blocks;
  layout copies;
  for (int i = 0; i < rank(r); ++i) {
    layout const pair = linear_part(mode(r, i));
    if (rank(pair) != 2 || cells(mode(pair, block)) != (i < rank(a) ? cells(mode(a, i)) : 1)) {
      return false;
    }
    detail::append(blocks, mode(pair, block));
    detail::append(copies, mode(pair, 1 - block));
  }
  int const most = rank(a) > rank(b) ? rank(a) : rank(b);
  return same_swizzle(a, r) && rank(r) == most && multiplied(linear_part(a), b, blocks, copies);
}

}  // namespace meaning

/// Law (blocked_product): blocks side by side: mode i is (block mode i, copies mode i).
///     P((i0,j0), (i1,j1)) == A(i0, i1) + C(B(j0, j1)), C as in logical_product
///     blocked_product((2,2):(2,1), (3,2):(1,3)) == ((2,3),(2,2)):((2,4),(1,12))
constexpr bool blocked_product_law(layout const& a, layout const& b, layout const& r) {
  return meaning::arranged(a, b, r, 0);
}

/// Law (raked_product): blocks that interleave: mode i is (copies mode i, block mode i).
///     P((j0,i0), (j1,i1)) == A(i0, i1) + C(B(j0, j1)), C as in logical_product
///     raked_product((2,2):(2,1), (3,2):(1,3)) == ((3,2),(2,2)):((4,2),(12,1))
constexpr bool raked_product_law(layout const& a, layout const& b, layout const& r) {
  return meaning::arranged(a, b, r, 1);
}

/// Law (tile_to_shape, swizzle_tile_to_shape): blocks until the shape is full.
///     blocked_product of the block and a compact layout of the numbers of blocks in the given
///     order of modes, first mode first by default; size(mode(R, i)) == size(mode(S, i))
///     tile_to_shape((4,2):(1,4), (8,4)) == ((4,2),(2,2)):((1,8),(4,16))
///     swizzle_tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (16,64)) ==
///         Sw<3,3,3> o 0 o ((8,2),(64,1)):((64,512),(1,0))
constexpr bool tile_to_shape_law(layout const& block, tree const& shape, tree const& order,
                                 layout const& r) {
  int const n = rank(r);
  tree times;
  i64 key[max_leaves] = {};
  for (int i = 0; i < n; ++i) {
    i64 const want = i < rank(shape) ? meaning::cells(mode(shape, i)) : 1;
    i64 const have = i < rank(block) ? meaning::cells(mode(block, i)) : 1;
    if (meaning::cells(mode(r, i)) != want) return false;
    detail::append(times, tree(want / have));
    for (int j = 0; j < n; ++j) key[i] += order.leaf[j].v < order.leaf[i].v ? 1 : 0;
  }
  detail::wrap(times);
  layout copies;
  copies.shape = times;
  for (int i = 0; i < n; ++i) {
    copies.stride[i] = num{times.leaf[i].v == 1 ? 0 : meaning::compact_stride(times, key, i)};
  }
  return blocked_product_law(block, copies, r);
}

namespace meaning {

/// r is what is left of s where n elements are one: without the bits inside an element, and without
/// the pairs whose lower bit is one of them.
constexpr bool widened(swizzle s, i64 n, swizzle r) {
  for (i64 x = 0; x < 512; ++x) {
    i64 want = x;
    for (int k = 0; k < s.bits; ++k) {
      int const low = s.base + k;
      int const high = low + (s.shift < 0 ? -s.shift : s.shift);
      if ((i64{1} << low) < n) continue;
      i64 const read = (i64{1} << (s.shift < 0 ? low : high)) / n;
      if ((x & read) != 0) want ^= (i64{1} << (s.shift < 0 ? high : low)) / n;
    }
    if (swizzled(r, x) != want) return false;
  }
  return true;
}

}  // namespace meaning

/// Law (upcast, swizzle_upcast): n elements become one.
///     the offsets of R are those of L divided by n, each once where L's are; the swizzle keeps the
///     pairs of bits whose lower one is not inside a wide element
///     upcast((8,4):(4,1), 2) == (8,2):(2,1)
///     swizzle_upcast(Sw<3,4,3> o 0 o (8,64):(64,1), 2) == Sw<3,3,3> o 0 o (8,32):(32,1)
constexpr bool upcast_law(layout const& l, i64 n, layout const& r) {
  std::vector<i64> wide = meaning::image(linear_part(l));
  for (i64& x : wide) x /= n;
  wide = meaning::sorted(wide);
  wide.erase(std::unique(wide.begin(), wide.end()), wide.end());
  bool const once = !meaning::is_injective(linear_part(l)) || meaning::is_injective(linear_part(r));
  return wide == meaning::image(linear_part(r)) && once && meaning::widened(l.sw, n, r.sw) &&
         r.offset * n == l.offset && meaning::outline(l.shape) == meaning::outline(r.shape);
}

/// Law (downcast, swizzle_downcast): one element becomes n, along the leaf of stride 1.
///     R(.., n d + k, ..) == n L(.., d, ..) + k for k < n, the digit of the leaf that grew n times
///     downcast((8,2):(2,1), 2) == (8,4):(4,1)
///     swizzle_downcast(Sw<3,3,3> o 0 o (8,32):(32,1), 2) == Sw<3,4,3> o 0 o (8,64):(64,1)
constexpr bool downcast_law(layout const& l, i64 n, layout const& r) {
  int grown = -1;
  for (int k = 0; k < l.shape.n; ++k) {
    if (r.shape.leaf[k] == l.shape.leaf[k]) continue;
    if (grown >= 0 || r.shape.leaf[k].v != n * l.shape.leaf[k].v) return false;
    grown = k;
  }
  if (meaning::outline(l.shape) != meaning::outline(r.shape) || (grown < 0) != (n == 1))
    return false;
  i64 const before = grown < 0 ? 1 : meaning::cells_before(l.shape, grown);
  for (i64 i = 0, all = meaning::cells(r); i < all; ++i) {
    i64 const low = i % before;
    i64 const part = i / before % n;  // of the element
    i64 const sign = grown >= 0 && l.stride[grown].v < 0 ? -1 : 1;
    if (meaning::at(r, i) != n * meaning::at(l, low + i / before / n * before) + sign * part) {
      return false;
    }
  }
  return meaning::cells(r) == n * meaning::cells(l);
}

/// Law (recast_layout): the same memory in elements of another width.
///     the offsets of R are the elements of `to` bits that hold a bit of an element of L
///     recast_layout((8,4):(4,1), 8, 16) == (8,2):(2,1)
constexpr bool recast_law(layout const& l, i64 from, i64 to, layout const& r) {
  std::vector<i64> touched;
  for (i64 const x : meaning::image(l)) {
    for (i64 e = x * from / to; e * to < (x + 1) * from; ++e) touched.push_back(e);
  }
  touched = meaning::sorted(touched);
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  return touched == meaning::image(r) && (!meaning::is_injective(l) || meaning::is_injective(r));
}

/// Law (swizzle): an involution that permutes aligned blocks and leaves the low bits alone.
///     S(x) flips bit z of x for each pair (y, z) whose bit y is set; S(S(x)) == x; S(x) stays in
///     the block of 2^(base + bits + |shift|) of x, and agrees with x below 2^base
///     swizzle(Sw<2,1,3>) == Sw<2,1,3>
constexpr bool swizzle_law(swizzle s) {
  int const distance = s.shift < 0 ? -s.shift : s.shift;
  i64 const block = i64{1} << (s.base + s.bits + distance);
  for (i64 x = 0; x < 2 * block; ++x) {
    i64 const y = s(x);
    if (y != meaning::swizzled(s, x) || s(y) != x || y / block != x / block) return false;
    if (((x ^ y) & ((i64{1} << s.base) - 1)) != 0) return false;
  }
  return true;
}

/// Law (make_swizzle): the swizzle that reads the bits of one mask and changes those of another.
///     S(2^k) ^ 2^k is the i-th bit of z where 2^k is the i-th bit of y, else 0
///     make_swizzle(192, 6) == Sw<2,1,5>
constexpr bool make_swizzle_law(i64 y, i64 z, swizzle s) {
  for (int k = 0; k < 62; ++k) {
    i64 const bit = i64{1} << k;
    i64 const flipped = meaning::swizzled(s, bit) ^ bit;
    if ((y & bit) == 0) {
      if (flipped != 0) return false;
    } else {
      if (flipped != (z & -z)) return false;
      z &= z - 1;
    }
  }
  return z == 0;
}

/// Law (swizzle_compose): one swizzle that does the work of two.
///     C(x) == A(B(x))
///     swizzle_compose(Sw<1,0,3>, Sw<1,1,3>) == Sw<2,0,3>
constexpr bool compose_law(swizzle a, swizzle b, swizzle c) {
  for (i64 x = 0; x < 4096; x += x < 64 ? 1 : 61) {
    if (meaning::swizzled(c, x) != meaning::swizzled(a, meaning::swizzled(b, x))) return false;
  }
  for (int k = 0; k < 62; ++k) {
    i64 const x = i64{1} << k;
    if (meaning::swizzled(c, x) != meaning::swizzled(a, meaning::swizzled(b, x))) return false;
  }
  return true;
}

}  // namespace tw
