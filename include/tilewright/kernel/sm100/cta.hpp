// SPDX-License-Identifier: Apache-2.0
// cta.hpp  How a CTA of a Blackwell kernel is divided: the role of each warp, the rows of a tile,
//          and the shared memory from which a warp of the epilogue stores D. Kernels, the planner
//          and reports use these constants.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/hd.hpp"
#include "tilewright/tensor/tmem_size.hpp"

namespace tw {

struct sm100_cta {
  static constexpr int load_warp = 0, multiply_warp = 1, first_epilogue_warp = 2;
  static constexpr int epilogue_warps = 4;
  /// With cluster launch control one more warp requests tiles.
  static constexpr int request_warp = first_epilogue_warp + epilogue_warps;
  static constexpr int threads = warp_threads * request_warp;

  /// Of A and D: a row is a lane of tensor memory, of which each warp of the epilogue has a part.
  static constexpr int rows = tmem_lanes;
  static constexpr int warp_rows = rows / epilogue_warps;
  /// Which part a warp has: tcgen05.ld reaches the lanes of warp_id % 4. Its first row, and lane.
  TW_HD static constexpr int quarter(int warp) { return warp % epilogue_warps; }
  TW_HD static constexpr int first_row(int warp) { return quarter(warp) * warp_rows; }

  /// Of an operand in a stage, along K.
  static constexpr int row_bytes = widest_span_bytes;
  /// Multiplies of a stage, one after another along K.
  static constexpr int stage_multiplies = row_bytes / mma_k_bytes;

  /// Boxes of D of an epilogue warp, by turns: warp_rows rows of one span.
  static constexpr int boxes = 2, box_row_bytes = widest_span_bytes;
  static constexpr int box_bytes = warp_rows * box_row_bytes;
  /// A box in kernels that store D from registers: nothing is staged in it.
  static constexpr int unstaged_box_bytes = 16;
};

}  // namespace tw
