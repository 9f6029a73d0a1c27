// SPDX-License-Identifier: Apache-2.0
// complement.hpp  The layout of offsets that repeats L until [0, m) is covered.
//
//     complement(4:2, 24) == (2,3):(1,8)
//     4:2 covers 0 2 4 6; shifted by 0 1 it fills a block of 8; three blocks reach 24.
//
// Law:      with R = complement(L, m): R is increasing, no two cells of (L, R) share an offset
//           (those that L itself repeats by a stride 0 aside), and cosize((L, R)) >= m
// Run time: one stride may be known at run time; it counts as the largest, and must be a multiple
// of
//           what the others cover [TW0129, TW0133]
// Shapes:   with a shape instead of m the blocks are counted leaf by leaf, each rounded up
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
  num block{1};        // offsets [0, block) are in reach
  i64 odd_stride = 0;  // a stride that is not a multiple of what the smaller ones cover ...
  i64 odd_cover = 0;   // ... and what they cover
  num uncertain;       // a run-time extent after a gap: if it is 1, there is no gap
};

/// The leaf from k on with the smallest stride. One that is known at run time can only come last.
TW_HD constexpr int least_stride(flat_layout const& f, int k) {
  int least = k;
  for (int i = k; i < f.n; ++i) {
    if (is_basis(f.stride[i])) refuse_stride(f.stride[i].v, 1);
    if (f.stride[i].v < 0) refuse_stride(f.stride[i].v, 0);
    if (i == least) continue;
    bool const here = is_argument(f.stride[i]);
    bool const there = is_argument(f.stride[least]);
    if (here && there && f.stride[i].unit != f.stride[least].unit) {
      refuse_argument_order(argument_index(f.stride[i]), f.stride[i].v);
    }
    if (here == there ? f.stride[i].v < f.stride[least].v : there) least = i;
  }
  return least;
}

TW_HD constexpr gaps_of find_gaps(layout const& l) {
  if (l.swizzled()) refuse_swizzled(l.sw.bits, 0);
  layout distinct = l;  // without the leaves of stride 0
  for (int i = 0; i < l.shape.n; ++i) {
    if (l.stride[i].v == 0) distinct.shape.leaf[i] = num{1};
  }
  flat_layout f = merge(distinct, {0, distinct.shape.n}, false);
  gaps_of g;
  for (int k = 0; k < f.n; ++k) {
    int const next = least_stride(f, k);
    num const step = f.stride[next];
    num const extent = f.extent[next];
    f.stride[next] = f.stride[k];
    f.extent[next] = f.extent[k];
    if (quotient const q = divided(step, g.block); q.exact) {
      if (q.value.v < 1) refuse_overlap(step.v, g.block.v);
      if (q.value != num{1}) {
        append(g.gaps, q.value, g.block);
        if (is_argument(extent)) g.uncertain = extent;
      }
    } else {
      i64 const covered = number(g.block);
      if (number(step) < covered) refuse_overlap(step.v, covered);
      if (is_argument(extent)) refuse_argument_extent(step.v, argument_index(extent));
      g.odd_stride = step.v;
      g.odd_cover = covered;
      if (step.v / covered > 1) append(g.gaps, step.v / covered, g.block);
    }
    g.block = times(step, extent);
  }
  return g;
}

/// The gaps and then copies of the block, as many as a shape needs.
TW_HD constexpr layout repeat_block(gaps_of g, tree const& shape) {
  num blocks{1};
  num inside = g.block;  // part of the block that the leaves so far have not used up
  for (int i = 0; i < shape.n; ++i) {
    check_extent(shape.leaf[i]);
    blocks = times(blocks, ceil_div(shape.leaf[i], inside));
    if (i + 1 < shape.n) inside = ceil_div(inside, shape.leaf[i]);
  }
  if (blocks != num{1}) append(g.gaps, blocks, g.block);
  return coalesce(close_piece(g.gaps));
}

}  // namespace detail

TW_HD constexpr layout complement(layout const& l, tree const& shape) {
  detail::gaps_of const g = detail::find_gaps(l);
  if (is_argument(g.uncertain)) refuse_argument_extent(1, argument_index(g.uncertain));
  layout const r = detail::repeat_block(g, shape);
  if (g.odd_stride != 0 && cosize(l) + cosize(r) - 1 < size(shape)) {
    refuse_overlap(g.odd_stride, g.odd_cover);
  }
  return r;
}
TW_HD constexpr layout complement(layout const& l, i64 m) { return complement(l, tree(m)); }

/// complement(L, cosize(L)): the gaps inside L.
TW_HD constexpr layout complement(layout const& l) { return complement(l, cosize(l)); }

}  // namespace tw
