// SPDX-License-Identifier: Apache-2.0
// complement.hpp  What L leaves out of [0, m): the layout that repeats L until m is covered.
//
//     complement(4:2, 24) == (2,3):(1,8)
//     4:2 covers 0 2 4 6; shifted by 0 1 it fills a block of 8; three blocks reach 24.
//
// Law:      with R = complement(L, m), the layout (L, R) is injective on L's distinct offsets, R is
//           increasing, R(i) is no offset of L except 0, and cosize((L, R)) >= m
// Needs:    sorted by stride, each stride of L is a multiple of what the smaller ones cover
//           [TW0108]; strides are integers >= 0 [TW0109]; m >= 1 [TW0114]
// Example:  tests/layout/complement_test.cpp
#pragma once

#include "tilewright/layout/coalesce.hpp"
#include "tilewright/layout/evaluate.hpp"

namespace tw {

TW_HD constexpr layout complement(layout const& l, i64 m) {
  if (l.swizzled()) refuse_swizzled(l.sw.bits, 0);
  if (m < 1) refuse_extent(m, 1);
  layout const distinct = filter_zeros(l);
  detail::flat_layout f = detail::merge(distinct, {0, distinct.shape.n}, false);
  layout out;
  i64 covered = 1;  // offsets [0, covered) are reached by L and the leaves of the result so far
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
    if (step % covered != 0 || step < covered) refuse_overlap(step, covered);
    if (step != covered) detail::append(out, step / covered, num{covered});
    covered = times(step, extent);
  }
  i64 const blocks = ceil_div(m, covered);
  if (blocks > 1) detail::append(out, blocks, num{covered});
  return coalesce(detail::close_piece(out));
}

TW_HD constexpr layout complement(layout const& l, tree const& shape) {
  return complement(l, size(shape));
}

/// complement(L, cosize(L)): the gaps inside L.
TW_HD constexpr layout complement(layout const& l) { return complement(l, cosize(l)); }

}  // namespace tw
