// SPDX-License-Identifier: Apache-2.0
// params.hpp  Parameters of a Blackwell GEMM launch. The same bytes for both backends.
#pragma once

#include "tilewright/arch/types.hpp"
#include "tilewright/kernel/epilogue/params.hpp"
#include "tilewright/kernel/operand_scales.hpp"
#include "tilewright/pipeline/order.hpp"

namespace tw {

struct sm100_params {
  tile_walk walk;                 // through the tiles of D, of sm100_config::tile_m() rows
  int k_blocks;                   // of one span along K
  int a_batched, b_batched;       // 1: a matrix for each batch index, along the map; 0: one for all
  void const* const* a_matrices;  // of each batch index, in global memory; nullptr: by a_batched
  void const* const* b_matrices;
  /// (k, mn, batch) or (mn, k, batch), boxes of operand_tile. For kernels with
  /// sm100_config::by_pointers() the last is two: a tma_place, or (batch, 0). B of a gate is (k,
  /// column of D, 0 gates or 1 what they multiply, batch).
  tensor_map a, b;
  /// D is row-major. Its map has boxes of sm100_epilogue and the coordinates column, row, batch;
  /// kernels with sm100_config::by_pointers() have a tma_place, or (batch, 0), for the batch.
  epilogue_params epilogue;
  operand_scales a_scales, b_scales;  // for kernels with sm100_config::block_scales
};

}  // namespace tw
