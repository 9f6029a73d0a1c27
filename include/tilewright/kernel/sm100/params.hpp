// SPDX-License-Identifier: Apache-2.0
// params.hpp  Parameters of a Blackwell GEMM launch. The same bytes for both backends.
#pragma once

#include "tilewright/kernel/sm90/params.hpp"

namespace tw {

struct sm100_params {
  tile_walk walk;            // through the tiles of D, of 128 * ctas rows
  int k_blocks;              // of 128 bytes along K
  int a_batched, b_batched;  // 1: a matrix for each batch index, along the map; 0: one for all
  tensor_map a, b;           // (k, mn, batch) or (mn, k, batch), boxes of operand_tile
  /// D is row-major; its map has boxes of sm100_epilogue.
  epilogue_params epilogue;
};

}  // namespace tw
