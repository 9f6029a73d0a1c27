// SPDX-License-Identifier: Apache-2.0
// tma_params.hpp  The parameters of a TMA copy, derived from two layouts and a tiler.
//
//     gmem     (1024,512):(512,1)          the tensor in global memory, in elements
//     smem     Sw<2,3,3> o 0 o ((8,16),(32,2)):((32,256),(1,4096))        the tile in shared memory
//     tiler    (128,64)                    which of gmem's coordinates a tile holds
//
// gives a box of 32 x 128 (contiguous mode first) along the basis (32,128):(1@1,1@0): dimension 0
// of the TMA tensor is mode 1 of gmem. The tile takes size(smem) / size(box) copies.
//
// How: shared memory is read in address order, smem^-1, and each address is mapped to the
// coordinate it holds, tiler o smem^-1. The leading modes that step by 1 along a coordinate are the
// box; where the step is larger, another copy begins. Modes that are contiguous in global memory
// too are merged up to 256 elements. gmem's other modes follow with a box of 1; beyond five they
// share the last dimension, whose stride is their greatest common divisor. Source: CUDA driver API,
// cuTensorMapEncodeTiled (box <= 256, strides and rows multiples of 16 bytes, rows within the span
// of a swizzle); PTX ISA, "Tensors", "Swizzling Modes". Needs:    smem and tiler of one size
// [TW0244]; both sides contiguous along one mode [TW0245];
//           box [TW0246, TW0247], strides [TW0248], a swizzle of shared memory [TW0237], rank
//           [TW0249]
// Law:      box k of the tile, written in order, fills smem's addresses [k, k + 1) * size(box)
// Example:  tests/atom/tma_params_test.cpp
#pragma once

#include "tilewright/atom/copy_rules.hpp"  // first: compilers show this path in every refusal

#include "tilewright/atom/smem_atom.hpp"

namespace tw {

struct tma_params {
  layout basis;  // a box's index -> coordinate of gmem; one mode for each dimension of the tensor
  int dims = 0;
  i64 global_dim[5] = {1, 1, 1, 1, 1};
  i64 stride_bytes[5] = {0, 0, 0, 0, 0};  // stride_bytes[0]: an element, or 0 below a byte
  i64 box[5] = {1, 1, 1, 1, 1};
  smem_swizzle swizzle = smem_swizzle::none;
  i64 element_bits = 0;

  TW_HD constexpr i64 box_elems() const { return box[0] * box[1] * box[2] * box[3] * box[4]; }
  TW_HD constexpr i64 box_bytes() const { return box_elems() * element_bits / 8; }
};

namespace detail {

/// gmem's extent and stride of the leaf that the basis stride e names.
struct global_leaf {
  i64 extent = 1;
  i64 stride = 0;
};

TW_HD constexpr global_leaf leaf_named(layout const& gmem, layout const& identity, num e) {
  for (int i = 0; i < gmem.shape.n; ++i) {
    if (identity.stride[i].unit == e.unit) return {gmem.extent(i), gmem.stride[i].v};
  }
  refuse_path(e.v, gmem.shape.n);
  return {};
}

/// The leading modes of tiler o smem^-1 that step by 1.
TW_HD constexpr layout box_of_tile(layout const& gmem, layout const& smem, tiler const& tile) {
  layout const coordinates = composition(make_identity_layout(gmem.shape), tile);
  if (size(coordinates) != size(smem)) refuse_tma_size(size(coordinates), size(smem));
  layout const by_address = coalesce(composition(coordinates, right_inverse(plain(smem))));
  layout box;
  for (int i = 0; i < by_address.shape.n; ++i) {
    if (by_address.stride[i].v != 1) break;
    append(box, by_address.extent(i), by_address.stride[i]);
  }
  if (box.shape.n == 0) refuse_tma_contiguous(by_address.stride[0].v, 1);
  return box;
}

/// Neighbours that are contiguous in global memory too become one mode, up to 256 elements.
TW_HD constexpr layout merged_box(layout const& box, layout const& gmem, layout const& identity) {
  layout out;
  for (int i = 0; i < box.shape.n;) {
    layout group;
    i64 extent = 1;
    i64 stride = leaf_named(gmem, identity, box.stride[i]).stride;
    i64 next = stride;
    for (; i < box.shape.n; ++i) {
      i64 const d = leaf_named(gmem, identity, box.stride[i]).stride;
      if (group.shape.n > 0 && (d != next || extent * box.extent(i) > 256)) break;
      append(group, box.extent(i), box.stride[i]);
      extent *= box.extent(i);
      next = times(stride, extent);
    }
    append(out, close_piece(group));
  }
  return out;
}

/// Adds gmem's modes that the box does not name, then ties the modes beyond four together.
TW_HD constexpr layout whole_basis(layout box, layout const& gmem, layout const& identity) {
  int const named = box.shape.n;
  for (int i = 0; i < gmem.shape.n; ++i) {
    if (gmem.extent(i) == 1 || gmem.stride[i].v == 0) continue;
    bool found = false;
    for (int k = 0; k < named; ++k) found = found || box.stride[k] == identity.stride[i];
    if (found) continue;
    append(box.shape, tree(1));
    box.stride[box.shape.n - 1] = identity.stride[i];
  }
  wrap(box);
  if (rank(box) <= 5) return box;
  layout out;
  layout last;
  for (int i = 0; i < rank(box); ++i) append(i < 4 ? out : last, mode(box, i));
  append(out, close_piece(last));
  wrap(out);
  return out;
}

/// Dimension i of the TMA tensor: the leaves of a mode of the basis, on a common stride.
TW_HD constexpr void set_dimension(tma_params& p, int i, layout const& gmem,
                                   layout const& identity) {
  layout const m = mode(p.basis, i);
  i64 step = 0;  // in elements
  int wide = 0;  // leaves of more than one element in the box
  for (int k = 0; k < m.shape.n; ++k) {
    global_leaf const g = leaf_named(gmem, identity, m.stride[k]);
    i64 const before = step;
    step = gcd(step, g.stride);
    if (step == 0) {
      p.global_dim[i] = g.extent;
    } else {
      p.global_dim[i] = plus(times(p.global_dim[i] - 1, before / step),
                             plus(times(g.extent - 1, g.stride / step), 1));
    }
    if (m.extent(k) > 1) ++wide;
  }
  p.box[i] = size(m);
  p.stride_bytes[i] = step * p.element_bits / 8;
  if (i == 4 && m.shape.n > 1 && wide > 0) refuse_tma_rank(m.shape.n + 4, 5);
  if (i == 0 && step != 1) refuse_tma_contiguous(step, 1);
  if (i > 0 && (step <= 0 || step * p.element_bits % 128 != 0)) {
    refuse_tma_stride(step * p.element_bits, 128);
  }
  if (p.box[i] > 256) refuse_tma_box(p.box[i], 256);
}

}  // namespace detail

/// gmem and smem in elements of `bits` bits; smem's swizzle counts in elements too.
TW_HD constexpr tma_params make_tma_params(layout const& gmem, layout const& smem,
                                           tiler const& tile, i64 bits) {
  tma_params p;
  p.element_bits = bits;
  p.swizzle = smem_swizzle_of(smem, bits);
  layout const identity = make_identity_layout(gmem.shape);
  layout const box = detail::box_of_tile(gmem, smem, tile);
  p.basis = detail::whole_basis(detail::merged_box(box, gmem, identity), gmem, identity);
  p.dims = rank(p.basis);
  for (int i = 0; i < p.dims; ++i) detail::set_dimension(p, i, gmem, identity);
  i64 const row_bits = p.box[0] * bits;
  if (row_bits % 128 != 0) refuse_tma_inner(row_bits / 8, 16);
  i64 const span = span_bytes(p.swizzle);
  if (p.swizzle != smem_swizzle::none && row_bits > span * 8) refuse_tma_inner(row_bits / 8, span);
  return p;
}

}  // namespace tw
