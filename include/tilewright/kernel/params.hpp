// SPDX-License-Identifier: Apache-2.0
// params.hpp  What a GEMM launch is given: tensor maps, the tile order, the epilogue's scalars.
//             The same bytes for both backends.
#pragma once

#include <cstdint>

#include "tilewright/arch/types.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/pipeline/order.hpp"

namespace tw {

/// C in global memory, any strides (elements). data == nullptr: there is no C.
struct c_view {
  void const* data;
  std::int64_t row_stride, col_stride;
  elem type;
};

struct epilogue_params {
  tensor_map d;        // boxes of 64 rows x 128 bytes, for columns below tma_cols
  int tma_cols;        // boxes that end beyond this column are written by plain stores
  void* data;          // D, row-major
  std::int64_t pitch;  // of D, elements
  int m, n;            // size of D
  float alpha, beta;
  c_view c;
};

struct gemm_params {
  tensor_map a, b;  // boxes of operand_tile
  epilogue_params epilogue;
  banded_order order;  // of cluster tiles
  int k_tiles;         // K blocks of tile_k
};

}  // namespace tw
