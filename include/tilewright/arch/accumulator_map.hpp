// SPDX-License-Identifier: Apache-2.0
// accumulator_map.hpp  Which element of a 64 x N tile each accumulator of wgmma holds: the only
//                      place that states it, for both backends and the kernels.
//
// Register i of a thread is at row row_of(warp, lane) + row_of_register(i) and column col_of(lane)
// + col_of_register(i); warp and lane count in the warpgroup.
// Source: PTX ISA, "Matrix Fragments for wgmma.mma_async.m64nNk16", accumulator D
// Law:    this is layout_c of every wgmma atom (atom/mma_fragment.hpp; tests/atom)
#pragma once

#include "tilewright/base/hd.hpp"

namespace tw {

struct accumulator_map {
  static constexpr int rows = 2;            // that a thread has elements of
  static constexpr int row_distance = 8;    // between them
  static constexpr int regs_of_8_cols = 4;  // two rows, two columns

  TW_HD static constexpr int row_of(int warp, int lane) { return 16 * warp + lane / 4; }
  TW_HD static constexpr int col_of(int lane) { return 2 * (lane % 4); }
  /// Which of the thread's rows register i is of: 0 or 1.
  TW_HD static constexpr int row_index(int i) { return i >> 1 & 1; }
  TW_HD static constexpr int row_of_register(int i) { return row_distance * row_index(i); }
  TW_HD static constexpr int col_of_register(int i) { return 8 * (i >> 2) + (i & 1); }
};

}  // namespace tw
