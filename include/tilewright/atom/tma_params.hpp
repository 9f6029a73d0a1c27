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
// How: shared memory is read in the order in which TMA fills it, and each address is mapped to the
// coordinate that it holds, tiler o smem^-1. The leading modes that step by 1 along a coordinate
// are the box; where the step is larger, another copy begins. Modes that are contiguous in global
// memory too are merged, up to 256 elements or the swizzle span. gmem's other modes follow with a
// box of 1; beyond five they share the last dimension, whose stride is their greatest common
// divisor. With a swizzle, TMA places each row of a box at a multiple of the span, also where the
// row is narrower: Sw<3,3,3> o 0 o (8,32):(64,1) is one box of 32 x 8, and
// Sw<3,3,3> o 0 o (8,32):(32,1) is no box at all. Without one, rows follow each other densely.
// Sources: CUDA driver API, cuTensorMapEncodeTiled (box <= 256, extents <= 2^32, strides < 2^40,
// strides and rows multiples of 16 bytes, rows within the span of a swizzle); PTX ISA, "Tensors",
// "Swizzling Modes", and "cp.async.bulk.tensor" (128-byte alignment in shared memory). Rows
// narrower than the span: measured on an H100 and an H200, docs/decisions/0006.
// Needs:    smem and tiler of one size [TW0244], no address twice [TW0125]; both sides contiguous
//           along one mode [TW0245]; box [TW0246, TW0247], extents [TW0304], strides [TW0248,
//           TW0305], rows one span apart where they are swizzled [TW0165], copies that begin at
//           multiples of 128 bytes [TW0161], a swizzle of shared memory [TW0237], rank [TW0249]
// Law:      copy k of the tile, begun at its first element's address, fills the tile: element j of
//           the box lies where smem places the tile's element at first + basis(j)
// Example:  tests/atom/tma_params_test.cpp
#pragma once

#include "tilewright/atom/copy_rules.hpp"  // first: compilers show this path in every refusal

#include "tilewright/atom/access_rules.hpp"
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
  i64 row_pitch = 0;  // elements from one row of the box to the next in shared memory

  TW_HD constexpr i64 box_elems() const { return box[0] * box[1] * box[2] * box[3] * box[4]; }
  /// Bytes that a copy moves: what an mbarrier is credited with.
  TW_HD constexpr i64 box_bytes() const { return box_elems() * element_bits / 8; }
  /// Bytes of shared memory from the first row to the end of the last one's pitch.
  TW_HD constexpr i64 box_smem_bytes() const {
    return box_elems() / box[0] * row_pitch * element_bits / 8;
  }
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

/// The order in which one copy fills shared memory: rows of `elems` elements, `pitch` apart.
struct tma_rows {
  i64 elems = 1;
  i64 pitch = 1;
};

/// The leading modes of `by_order` that a row holds: contiguous on both sides, up to `most`
/// elements. A mode that `cut` allows to end inside of it ends where the row is full.
TW_HD constexpr layout row_of(layout const& by_order, layout const& gmem, layout const& identity,
                              i64 most, bool cut) {
  layout row;
  i64 elems = 1;
  for (int i = 0; i < by_order.shape.n && by_order.stride[i].v == 1 && elems < most; ++i) {
    i64 extent = by_order.extent(i);
    i64 const d = leaf_named(gmem, identity, by_order.stride[i]).stride;
    if (i > 0 && d != times(leaf_named(gmem, identity, row.stride[0]).stride, elems)) break;
    bool const too_long = elems * extent > most;
    if (i > 0 && too_long && (!cut || extent % (most / elems) != 0)) break;
    if (i > 0 && too_long) extent = most / elems;
    if (extent == 1) break;
    append(row, extent, by_order.stride[i]);
    elems *= extent;
    if (extent != by_order.extent(i)) break;
  }
  return row;
}

/// smem's strides in the order of the rows: padding between a row and the next is left out.
TW_HD constexpr layout without_padding(layout smem, tma_rows rows, i64 bits) {
  for (int i = 0; i < smem.shape.n; ++i) {
    if (smem.is_unit(i)) continue;
    i64 const d = plain_stride(smem.stride[i]);
    i64 const last = times(smem.extent(i) - 1, d);
    if (d < rows.elems && last < rows.elems) continue;
    i64 const next = larger(d, rows.elems);  // where something other than this row begins
    if (next % rows.pitch != 0) refuse_form(next * bits / 8, rows.pitch * bits / 8);
    smem.stride[i] = num{d / rows.pitch * rows.elems};
  }
  return smem;
}

/// Refuses a tile with an address that holds two elements.
TW_HD constexpr void check_addresses(layout const& smem) {
  steps const s = sorted_steps(smem);
  i64 covered = 1;
  for (int k = 0; k < s.n; ++k) {
    i64 const d = number(s.at[k].stride);
    if (d < covered) refuse_left_inverse(d, covered);
    covered = plus(covered, times(number(s.at[k].extent) - 1, d));
  }
}

/// Refuses copies that begin elsewhere than at multiples of 128 bytes. `ordered` is smem without
/// the padding of rows, `box` the elements of a copy.
TW_HD constexpr void check_starts(layout const& smem, layout const& ordered, i64 box, tma_rows rows,
                                  i64 bits) {
  i64 const offset = smem.offset * bits;
  if (offset % 1024 != 0) refuse_unaligned(offset / 8, 128);
  for (int i = 0; i < smem.shape.n; ++i) {
    if (smem.is_unit(i)) continue;
    i64 const d = ordered.stride[i].v;
    if (times(ordered.extent(i), d) <= box) continue;  // inside of the box
    i64 const step = d >= box ? smem.stride[i].v : box / rows.elems * rows.pitch;
    if (times(step, bits) % 1024 != 0) refuse_unaligned(step * bits / 8, 128);
  }
}

/// Neighbours that are contiguous in global memory too become one mode, up to 256 elements. The
/// first mode is the row, which has `row` leaves.
TW_HD constexpr layout merged_box(layout const& box, int row, layout const& gmem,
                                  layout const& identity) {
  layout out;
  for (int i = 0; i < box.shape.n;) {
    layout group;
    i64 extent = 1;
    i64 const stride = leaf_named(gmem, identity, box.stride[i]).stride;
    i64 next = stride;
    int const end = i < row ? row : box.shape.n;
    for (; i < end; ++i) {
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

/// One copy: its box, a flat layout index -> coordinate, the first `row_leaves` of which are a row.
struct tma_box {
  layout box;
  int row_leaves = 0;
  tma_rows rows;
};

/// The box of the tile, and proof that copies of it fill the tile.
TW_HD constexpr tma_box box_of_tile(layout const& gmem, layout const& identity, layout const& smem,
                                    tiler const& tile, smem_swizzle sw, i64 bits) {
  layout const coordinates = composition(identity, tile);
  if (size(coordinates) != size(smem)) refuse_tma_size(size(coordinates), size(smem));
  layout const addresses = linear_part(smem);
  check_addresses(addresses);
  layout by_order = coalesce(composition(coordinates, right_inverse(addresses)));
  bool const swizzles = sw != smem_swizzle::none;
  i64 const span = span_bytes(sw) * 8 / bits;
  layout const row = row_of(by_order, gmem, identity, swizzles ? span : 256, swizzles);
  if (row.shape.n == 0) refuse_tma_contiguous(by_order.stride[0].v, 1);
  tma_box b;
  b.rows.elems = product_of(row.shape).v;
  b.rows.pitch = swizzles ? span : b.rows.elems;
  if (b.rows.elems * bits % 128 != 0) refuse_tma_inner(b.rows.elems * bits / 8, 16);
  if (swizzles && b.rows.elems > span) refuse_tma_inner(b.rows.elems * bits / 8, span * bits / 8);
  layout ordered = addresses;
  if (swizzles && b.rows.elems < span) {
    ordered = without_padding(addresses, b.rows, bits);
    by_order = coalesce(composition(coordinates, right_inverse(ordered)));
  }
  b.box = row;
  b.row_leaves = row.shape.n;
  i64 elems = 1;  // of by_order, passed
  bool open = true;
  i64 box = b.rows.elems;
  for (int i = 0; i < by_order.shape.n && open; ++i) {
    i64 const extent = by_order.extent(i);
    i64 const before = elems;
    elems = times(elems, extent);
    if (elems <= b.rows.elems) continue;  // in the row
    open = before >= b.rows.elems && by_order.stride[i].v == 1;
    if (!open) break;
    append(b.box, extent, by_order.stride[i]);
    box = times(box, extent);
  }
  if (size(by_order) != size(smem)) composition(coordinates, make_layout(smem.shape));
  check_starts(smem, ordered, box, b.rows, bits);
  return b;
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
  if (p.stride_bytes[i] >= i64{1} << 40) refuse_tma_stride_bytes(p.stride_bytes[i], i64{1} << 40);
  if (p.global_dim[i] > i64{1} << 32) refuse_tma_extent(p.global_dim[i], i64{1} << 32);
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
  detail::tma_box const b = detail::box_of_tile(gmem, identity, smem, tile, p.swizzle, bits);
  layout const merged = detail::merged_box(b.box, b.row_leaves, gmem, identity);
  p.basis = detail::whole_basis(merged, gmem, identity);
  p.row_pitch = b.rows.pitch;
  p.dims = rank(p.basis);
  for (int i = 0; i < p.dims; ++i) detail::set_dimension(p, i, gmem, identity);
  return p;
}

}  // namespace tw
