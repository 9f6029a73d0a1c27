// SPDX-License-Identifier: Apache-2.0
// tiled_mma.hpp  An MMA atom repeated over threads and over a tile: who holds what of A, B and C.
//
//     constexpr tiled_mma mma = make_tiled_mma(find_mma("mma.sm80.m16n8k16.f32.f16.f16"),
//                                              "(2,2,1)"_L, tile(32, 32, 16));
//     tile_mnk(mma) == (32,32,16)              four warps, 2 x 2; each does two atoms along n
//     tv_c(mma)(t, v)                          place of value v of thread t in column-major M x N
//     partition_c(mma, thread, C)              that thread's part of a tensor C: (value, m, n)
//
// atom_layout     (m, n, k) -> which copy of the atom's threads does it
// permutation     by mode m, n, k: how many of a mode's indices the tile takes, and in which order;
//                 _ takes as many as the atoms fill
// How:  a tensor is divided by the permutation, then by the atom, whose cells are read in the order
//       of its thread-value layout; what is left is divided among the copies of the atom.
// Needs:    three modes [TW0214]; a permutation that the atoms fill [TW0215]; for tv_*: threads
// with
//           consecutive numbers [TW0216]; a thread of the tile [TW0217]; what divides need
// Law:      tv_a, tv_b, tv_c cover the tile; each element of C once
// Example:  tests/atom/mma_tiled_test.cpp
#pragma once

#include "tilewright/atom/mma_rules.hpp"  // first: compilers show this path in every refusal

#include "tilewright/atom/mma_fragment.hpp"
#include "tilewright/layout/divide.hpp"
#include "tilewright/layout/inverse.hpp"
#include "tilewright/layout/modes.hpp"
#include "tilewright/layout/product.hpp"
#include "tilewright/layout/slice.hpp"

namespace tw {

struct tiled_mma {
  mma_atom atom;
  layout atom_layout;  // rank 3
  tiler permutation;   // three modes, each a layout, an integer or _
};

namespace detail {

TW_HD constexpr i64 extent_mnk(mma_atom const& a, int mode) {
  return mode == 0 ? a.m : mode == 1 ? a.n : a.k;
}

/// The extent that the atoms fill along a mode at once.
TW_HD constexpr i64 filled(tiled_mma const& t, int i) {
  return extent_mnk(t.atom, i) * size(mode(t.atom_layout, i));
}

/// Modes of the problem that an operand has.
struct two_modes {
  int row, column;
};
TW_HD constexpr two_modes modes_of(mma_operand which) {
  return which == mma_operand::a   ? two_modes{0, 2}
         : which == mma_operand::b ? two_modes{1, 2}
                                   : two_modes{0, 1};
}

}  // namespace detail

/// Extents of the tile: (M, N, K).
TW_HD constexpr tree tile_mnk(tiled_mma const& t) {
  i64 extents[3] = {};
  for (int i = 0; i < 3; ++i) {
    tiler const p = mode(t.permutation, i);
    extents[i] = p.keeps() ? detail::filled(t, i) : size(p.cells);
  }
  return make_shape(extents[0], extents[1], extents[2]);
}

TW_HD constexpr tiled_mma make_tiled_mma(mma_atom const& atom, layout const& atom_layout,
                                         tiler const& permutation = tile(any, any, any)) {
  if (rank(atom_layout) > 3) refuse_tiled_mma_rank(rank(atom_layout), 3);
  if (rank(permutation) > 3) refuse_tiled_mma_rank(rank(permutation), 3);
  tiled_mma t{atom, pad_rank(atom_layout, 3), permutation};
  if (!permutation.by_mode()) t.permutation = tile(permutation, any, any);
  if (rank(permutation) == 2) t.permutation = tile(mode(permutation, 0), mode(permutation, 1), any);
  if (permutation.by_mode() && rank(permutation) == 1) {
    t.permutation = tile(mode(permutation, 0), any, any);
  }
  tree const extents = tile_mnk(t);
  for (int i = 0; i < 3; ++i) {
    i64 const full = detail::filled(t, i);
    if (extents.leaf[i].v % full != 0) refuse_tiled_mma_tile(extents.leaf[i].v, full);
  }
  return t;
}

/// (atom thread, m, n, k) -> thread.
TW_HD constexpr layout thr_layout_vmnk(tiled_mma const& t) {
  return tiled_product(thr_id(t.atom), tiler(t.atom_layout));
}

/// Threads of the tiled MMA.
TW_HD constexpr i64 thread_count(tiled_mma const& t) { return size(thr_layout_vmnk(t)); }

namespace detail {

/// A tensor with modes (rows, columns) of the operand as
/// ((atom thread, (row copy, column copy)), (atom value, (rest of rows, rest of columns))).
TW_HD constexpr layout by_thread(tiled_mma const& t, mma_operand which, layout const& tensor) {
  auto const [row, column] = modes_of(which);
  layout const permuted =
      logical_divide(tensor, tile(mode(t.permutation, row), mode(t.permutation, column)));
  layout const atoms = zipped_divide(
      permuted, tile(layout(extent_mnk(t.atom, row), 1), layout(extent_mnk(t.atom, column), 1)));
  layout const by_value =
      swizzled_as(make_layout(linear_part(composition(mode(atoms, 0), tv_layout(t.atom, which))),
                              linear_part(mode(atoms, 1))),
                  atoms);
  return zipped_divide(by_value, tile(any, tile(layout(size(mode(t.atom_layout, row)), 1),
                                                layout(size(mode(t.atom_layout, column)), 1))));
}

}  // namespace detail

/// (thread, (atom value, (rest of rows, rest of columns))) -> column-major tile of the operand.
TW_HD constexpr layout tv_layout(tiled_mma const& t, mma_operand which) {
  auto const [row, column] = detail::modes_of(which);
  tree const extents = tile_mnk(t);
  layout const tile_tv = detail::by_thread(
      t, which, make_layout_left(make_shape(extents.leaf[row], extents.leaf[column])));
  layout const numbers = thr_layout_vmnk(t);
  layout const order = right_inverse(numbers);  // thread -> index into numbers
  if (size(order) != size(numbers)) refuse_tiled_mma_threads(size(order), size(numbers));
  layout threads = mode(tile_tv, 0);  // (atom thread, (row copy, column copy))
  i64 const m = size(mode(t.atom_layout, 0)), n = size(mode(t.atom_layout, 1));
  i64 const k = size(mode(t.atom_layout, 2));
  // Copies along the mode that the operand does not have hold the same elements.
  if (which == mma_operand::a) {
    layout const mn = make_layout(layout(m, num{1}), layout(n, num{0}));
    threads = composition(threads, tile(any, tile(mn, any)));
  } else if (which == mma_operand::b) {
    layout const mn = make_layout(layout(m, num{0}), layout(n, num{1}));
    threads = composition(threads, tile(any, tile(mn, any)));
  } else if (k > 1) {
    layout const mnk = make_layout(layout(m, 1), layout(n, m), layout(k, num{0}));
    threads = composition(threads, tile(any, mnk));
  }
  return make_layout(composition(threads, order), mode(tile_tv, 1));
}
TW_HD constexpr layout tv_a(tiled_mma const& t) { return tv_layout(t, mma_operand::a); }
TW_HD constexpr layout tv_b(tiled_mma const& t) { return tv_layout(t, mma_operand::b); }
TW_HD constexpr layout tv_c(tiled_mma const& t) { return tv_layout(t, mma_operand::c); }

namespace detail {

/// The coordinate of a thread's part in by_thread().
TW_HD constexpr tree own_part(tiled_mma const& t, mma_operand which, i64 thread) {
  layout const threads = thr_layout_vmnk(t);
  if (thread < 0) refuse_mma_thread(thread, size(threads));
  i64 at[4] = {};  // index into the atom's threads, copy along m, n, k
  for (int i = 0; i < 4; ++i) {
    layout const m = mode(threads, i);
    i64 step = 1;
    for (int j = 0; j < m.shape.n; ++j) {
      if (m.stride[j].v != 0) at[i] += thread / m.stride[j].v % m.extent(j) * step;
      step *= m.extent(j);
    }
  }
  if (threads(make_coord(at[0], at[1], at[2], at[3])) != thread) {
    refuse_mma_thread(thread, size(threads));
  }
  auto const [row, column] = modes_of(which);
  return make_coord(make_coord(at[0], make_coord(at[row + 1], at[column + 1])), any);
}

/// ((atom value, (rest of rows, rest of columns))) as three modes.
TW_HD constexpr layout three_modes(layout const& part) {
  layout const value = mode(part, 0);
  layout out;
  append(out, mode(value, 0));
  for (int i = 0; i < rank(mode(value, 1)); ++i) append(out, mode(mode(value, 1), i));
  wrap(out);
  return swizzled_as(out, part);
}

}  // namespace detail

/// The thread's part of a tensor: (atom value, rest of rows, rest of columns), and where it begins.
TW_HD constexpr sliced partition(tiled_mma const& t, mma_operand which, i64 thread,
                                 layout const& tensor) {
  sliced const part =
      slice(detail::by_thread(t, which, tensor), detail::own_part(t, which, thread));
  return {detail::three_modes(part.kept), part.offset};
}
/// partition() of a tensor of coordinates, and the coordinate at which it begins: a thread needs it
/// to know which of its elements are inside the matrix.
TW_HD constexpr sliced_coordinates partition_coordinates(tiled_mma const& t, mma_operand which,
                                                         i64 thread, layout const& tensor) {
  sliced_coordinates const part =
      slice_coordinates(detail::by_thread(t, which, tensor), detail::own_part(t, which, thread));
  return {detail::three_modes(part.kept), part.origin};
}
TW_HD constexpr sliced partition_a(tiled_mma const& t, i64 thread, layout const& tensor) {
  return partition(t, mma_operand::a, thread, tensor);
}
TW_HD constexpr sliced partition_b(tiled_mma const& t, i64 thread, layout const& tensor) {
  return partition(t, mma_operand::b, thread, tensor);
}
TW_HD constexpr sliced partition_c(tiled_mma const& t, i64 thread, layout const& tensor) {
  return partition(t, mma_operand::c, thread, tensor);
}

/// Shape of a thread's part of a tensor with this shape: (atom value, rest of rows, rest of
/// columns).
TW_HD constexpr tree partition_shape(tiled_mma const& t, mma_operand which, tree const& shape) {
  return partition(t, which, 0, make_layout_left(shape)).kept.shape;
}

}  // namespace tw
