// SPDX-License-Identifier: Apache-2.0
// operand_scales.hpp  Scales of A or B that a kernel multiplies in its main loop, as a parameter.
#pragma once

#include <cstdint>

namespace tw {

/// operand_scales::outer_log2 where all rows or columns share a scale, and where blocks of 128 do.
inline constexpr int all_outer_log2 = 31, block_outer_log2 = 7;

/// Scales of an operand in the main loop (problem/scale.hpp), in global memory.
struct operand_scales {
  void const* data;                                   // nullptr: all are 1
  std::int64_t stride_outer, stride_k, batch_stride;  // stride_k 0: all of K shares a scale
  int outer_log2;   // 2^outer_log2 rows or columns share a scale, or all_outer_log2
  int packed_log2;  // 2^packed_log2 blocks along K are adjacent
  int ue8m0;        // 1: bytes of ue8m0, else float32
};

}  // namespace tw
