// SPDX-License-Identifier: Apache-2.0
// tiled_copy_mma.hpp  Copies that fill or empty the registers of a tiled MMA.
//
//     make_tiled_copy_a(ldmatrix.x4, mma)    shared memory -> A's registers, tile (M, K)
//     make_tiled_copy_b(ldmatrix.x4, mma)    shared memory -> B's registers, tile (N, K)
//     make_tiled_copy_c(stmatrix.x4, mma)    C's registers -> shared memory, tile (M, N)
//     make_tiled_copy_c_atom(...)            only the first values of C: as many as one instruction
//                                            moves, for epilogues that go tile by tile
//
// The copy's thread-value layout is the MMA's, so a thread copies what it multiplies.
// Needs:    whole atoms of threads and values [TW0231]
// Example:  tests/atom/tiled_copy_test.cpp
#pragma once

#include "tilewright/atom/tiled_copy.hpp"
#include "tilewright/atom/tiled_mma.hpp"

namespace tw {

namespace detail {

TW_HD constexpr tiled_copy copy_of_operand(copy_atom const& atom, tiled_mma const& mma,
                                           mma_operand which, int row, int column) {
  tree const mnk = tile_mnk(mma);
  return make_tiled_copy_of(atom, tv_layout(mma, which),
                            tile_of(make_shape(mode(mnk, row), mode(mnk, column))));
}

}  // namespace detail

TW_HD constexpr tiled_copy make_tiled_copy_a(copy_atom const& atom, tiled_mma const& mma) {
  return detail::copy_of_operand(atom, mma, mma_operand::a, 0, 2);
}
TW_HD constexpr tiled_copy make_tiled_copy_b(copy_atom const& atom, tiled_mma const& mma) {
  return detail::copy_of_operand(atom, mma, mma_operand::b, 1, 2);
}
TW_HD constexpr tiled_copy make_tiled_copy_c(copy_atom const& atom, tiled_mma const& mma) {
  return detail::copy_of_operand(atom, mma, mma_operand::c, 0, 1);
}

/// The tiler names the rows and columns that the first values of each thread touch.
TW_HD constexpr tiled_copy make_tiled_copy_c_atom(copy_atom const& atom, tiled_mma const& mma) {
  layout const tv = tv_layout(mma, mma_operand::c);
  i64 const values = size(mode(atom.src, 1));
  if (size(mode(tv, 1)) % values != 0) refuse_copy_tile(size(mode(tv, 1)), values);
  layout const first = composition(tv, make_layout(size(mode(tv, 0)), values));
  tree const mnk = tile_mnk(mma);
  detail::active_part const p = detail::find_active(make_shape(mode(mnk, 0), mode(mnk, 1)), first);
  return make_tiled_copy_of(atom, p.places, p.tile);
}

}  // namespace tw
