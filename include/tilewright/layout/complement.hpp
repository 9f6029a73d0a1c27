// SPDX-License-Identifier: Apache-2.0
// complement.hpp  What L leaves out of [0, m): the layout that repeats L until m is covered.
//
//     complement(4:2, 24) == (2,3):(1,8)
//     4:2 covers 0 2 4 6; shifted by 0 1 it fills a block of 8; three blocks reach 24.
//
// Law:      with R = complement(L, m): R is increasing, no two cells of (L, R) share an offset
//           (those that L itself repeats by a stride 0 aside), and cosize((L, R)) >= m
// Shapes:   with a shape in place of m the blocks are counted leaf by leaf, each rounded up
// Needs:    sorted by stride, each stride of L is at least what the smaller ones cover [TW0108];
//           if it is not a multiple, the gaps cannot all be filled and the law decides [TW0108];
//           strides are integers >= 0 [TW0109]; m >= 1 [TW0114]
// Example:  tests/layout/complement_test.cpp
#pragma once

#include "tilewright/layout/coalesce.hpp"
#include "tilewright/layout/evaluate.hpp"

namespace tw {

namespace detail {

/// The gaps between the offsets of a layout, and the block that it fills together with them.
struct gaps_of {
  layout gaps;         // without parentheses around its leaves
  i64 block = 1;       // offsets [0, block) are in reach
  i64 odd_stride = 0;  // a stride that is not a multiple of what the smaller ones cover ...
  i64 odd_cover = 0;   // ... and what they cover
};

TW_HD constexpr gaps_of find_gaps(layout const& l) {
  if (l.swizzled()) refuse_swizzled(l.sw.bits, 0);
  layout const distinct = filter_zeros(l);
  flat_layout f = merge(distinct, {0, distinct.shape.n}, false);
  gaps_of g;
  for (int k = 0; k < f.n; ++k) {
    int least = k;
    for (int i = k; i < f.n; ++i) {
      if (f.stride[i].unit != unit_none) refuse_stride(f.stride[i].v, 1);
      if (f.stride[i].v < 0) refuse_stride(f.stride[i].v, 0);
      if (f.stride[i].v < f.stride[least].v) least = i;
    }
    i64 const step = f.stride[least].v;
    i64 const extent = f.extent[least];
    f.stride[least] = f.stride[k];
    f.extent[least] = f.extent[k];
    if (step < g.block) refuse_overlap(step, g.block);
    if (step % g.block != 0) {
      g.odd_stride = step;
      g.odd_cover = g.block;
    }
    if (step / g.block > 1) append(g.gaps, step / g.block, num{g.block});
    g.block = times(step, extent);
  }
  return g;
}

/// The gaps and then copies of the block, as many as a shape needs.
TW_HD constexpr layout repeat_block(gaps_of g, tree const& shape) {
  i64 blocks = 1;
  i64 inside = g.block;  // part of the block that the leaves so far have not used up
  for (int i = 0; i < shape.n; ++i) {
    if (shape.leaf[i].v < 1) refuse_extent(shape.leaf[i].v, 1);
    blocks = times(blocks, ceil_div(shape.leaf[i].v, inside));
    inside = ceil_div(inside, shape.leaf[i].v);
  }
  if (blocks > 1) append(g.gaps, blocks, num{g.block});
  return coalesce(close_piece(g.gaps));
}

}  // namespace detail

TW_HD constexpr layout complement(layout const& l, tree const& shape) {
  detail::gaps_of const g = detail::find_gaps(l);
  layout const r = detail::repeat_block(g, shape);
  if (g.odd_stride != 0 && cosize(filter_zeros(l)) + cosize(r) - 1 < size(shape)) {
    refuse_overlap(g.odd_stride, g.odd_cover);
  }
  return r;
}
TW_HD constexpr layout complement(layout const& l, i64 m) { return complement(l, tree(m)); }

/// complement(L, cosize(L)): the gaps inside L.
TW_HD constexpr layout complement(layout const& l) { return complement(l, cosize(l)); }

}  // namespace tw
