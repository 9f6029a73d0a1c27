// SPDX-License-Identifier: Apache-2.0
// tma_picture.hpp  A TMA box: where it lies in the global tensor, what of it is outside, and where
// its elements go in shared memory.
//
// Global elements outside the box are pale; elements of the box outside the tensor are marked and
// read as zero. Hovering an element shows its place on the other side.
// Needs:    a tensor and a tile of two modes [TW0176], what make_tma_params needs [TW0237,
//           TW0244-TW0249]
// Source:   PTX ISA, "Tensors", section "Out of Boundary Access"
#pragma once

#include "tilewright/atom/tma_params.hpp"
#include "tools/picture/picture.hpp"

namespace tw {

/// gmem in elements of `bits` bits, smem the tile in shared memory; the tile's first element is
/// element (row, column) of the tensor, perhaps a negative one.
picture tma_picture(layout const& gmem, layout const& smem, i64 row, i64 column, i64 bits);

}  // namespace tw
