// SPDX-License-Identifier: Apache-2.0
// choose.hpp  A tile in shared memory, made of the blocks of a swizzle, and the widest that serves.
//
//     smem_tile(k, b128, 16, (192,192))  Sw<3,3,3> o 0 o ((8,24),(64,3)):((64,512),(1,12288))
//
// The blocks above (K-major: below) each other form a TMA box, one span wide and as long as the
// tile; boxes follow each other. A wider span means fewer boxes, and rows of whole 128-byte lines.
// The copy of a warpgroup needs a composition with the tile: widest_smem_tile tries from the
// widest swizzle down whether the piece that the copy cuts out is a layout.
// Needs:    blocks that fill the tile [TW0118]; a swizzle that fits tile and piece [TW0236]
// Example:  widest_smem_tile(k, 16, (192,192), (64,96)) is of 64 bytes tests/atom/explain_test.cpp
#pragma once

#include "tilewright/atom/smem_choice.hpp"

namespace tw {

/// operand_major::k: the second mode is contiguous, mn: the first. `bits` of an element.
TW_HD constexpr layout smem_tile(operand_major major, smem_swizzle s, i64 bits, tree const& shape) {
  tree const order = major == operand_major::k ? make_tree(0, 1) : make_tree(1, 0);
  return tile_to_shape(smem_atom(major, s, bits), shape, order);
}

/// The tile with the widest swizzle whose blocks fill it and each (rows, columns) piece of it.
TW_HD constexpr layout widest_smem_tile(operand_major major, i64 bits, tree const& shape,
                                        tree const& piece) {
  return smem_tile(major, widest_smem_atom(major, bits, shape, piece).mode, bits, shape);
}

}  // namespace tw
