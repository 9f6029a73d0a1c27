// SPDX-License-Identifier: Apache-2.0
// tiles.hpp  Operand tiles of the Ampere GEMM in shared memory, and who multiplies what of them.
//
// Atoms: (8, 64):(64,1) for a K-major operand and (64, 8):(1,64) for an MN-major one, each line of
// which is 128 bytes; with steps of 32 along K (8, 32):(32,1). The swizzle moves the 16-byte chunks
// of a line by xor with the line's number, so that neither side has a bank conflict: cp.async
// writes whole lines, and the eight rows of a matrix that ldmatrix reads, one chunk of eight lines,
// lie in different banks. (`tilewright banks` derives both counts: docs/ampere.md.)
#pragma once

#include "tilewright/atom/copy_find.hpp"
#include "tilewright/atom/mma_name.hpp"
#include "tilewright/atom/smem_atom.hpp"
#include "tilewright/atom/tiled_copy_mma.hpp"
#include "tilewright/kernel/sm80/config.hpp"
#include "tilewright/layout/tile_to_shape.hpp"

namespace tw {

/// The swizzle of a line of so many elements of 16 bits.
TW_HD constexpr smem_swizzle sm80_swizzle(int line) {
  return line % 64 == 0 ? smem_swizzle::b128 : line == 32 ? smem_swizzle::b64 : smem_swizzle::b32;
}

/// (mn, k) -> element of an operand's tile in shared memory. Atoms beside each other along the
/// direction that is not contiguous follow each other.
TW_HD constexpr layout sm80_tile(operand_major major, int mn, int k) {
  bool const k_major = major == operand_major::k;
  return tile_to_shape(smem_atom(major, sm80_swizzle(k_major ? k : mn), 16), make_shape(mn, k),
                       k_major ? make_tree(0, 1) : make_tree(1, 0));
}

/// The tile of D by warps: each has a block of warp_m() x warp_n().
TW_HD constexpr tiled_mma sm80_mma(sm80_config const& c) {
  mma_atom atom = find_mma("mma.sm80.m16n8k16.f32.bf16.bf16");
  atom.k = c.mma_k;
  atom.d = c.f16_sums ? mma_type::f16 : mma_type::f32;
  atom.a = atom.b = mma_type_of(c.ab);
  int const m = c.warp_m() / atom.m, n = c.warp_n() / atom.n;
  return make_tiled_mma(
      atom, make_layout(layout(c.warps_m, 1), layout(c.warps_n, c.warps_m), layout(1, 0)),
      tile(make_layout(make_shape(atom.m, c.warps_m, m), make_tree(1, c.warp_m(), atom.m)),
           make_layout(make_shape(atom.n, c.warps_n, n), make_tree(1, c.warp_n(), atom.n)), any));
}

/// The instruction that reads fragments of an operand: transposed where its lines are along M or N.
TW_HD constexpr copy_atom sm80_ldmatrix(operand_major major) {
  return major == operand_major::k ? copy_atom_named("copy.sm75.ldmatrix.x4")
                                   : copy_atom_named("copy.sm75.ldmatrix.x4.t");
}

}  // namespace tw
