// SPDX-License-Identifier: Apache-2.0
// params.hpp  Parameters of an Ampere GEMM launch. The same bytes for both backends.
#pragma once

#include <cstdint>

#include "tilewright/kernel/epilogue/params.hpp"
#include "tilewright/pipeline/order.hpp"

namespace tw {

/// An operand in global memory: its lines, along K or along M or N by the kernel's major, begin at
/// data + i * pitch, multiples of 16 bytes. In elements. matrices: the address of each matrix of a
/// batch by pointers, in global memory; nullptr: data and batch_stride give it.
struct sm80_operand {
  void const* data;
  std::int64_t pitch, batch_stride;
  void const* const* matrices;
};

struct sm80_params {
  sm80_operand a, b;
  tile_walk walk;  // through the tiles of D
  int m, n, k;     // rows and columns of D, length of the rows of A
  int k_tiles;
  int d_chunks;    // 1: lines of D begin at multiples of 16 bytes
  int aux_chunks;  // 1: those of the auxiliary output do, and its columns are not interleaved
  /// D is row-major. Tensor maps are not used.
  epilogue_params epilogue;
};

}  // namespace tw
