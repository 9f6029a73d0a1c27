// SPDX-License-Identifier: Apache-2.0
// fragment_rows.hpp  Which rows of a tile the accumulators of a thread are of.
//
// wgmma numbers the rows of a fragment of A (accumulator_map). Where A is in registers, a fragment
// may have the rows of its tile in any order that the epilogue has too; each kind of kernel has the
// order that reads A without bank conflicts (register_a.hpp). Of warp w, lane 4 g + c:
//
//                          the thread's first row                               its second row
//     A in shared memory   16 w + g                                             8 below
//     32-bit A, registers  g % 4 + 4 (w % 2) + 16 (g / 4) + 32 (w / 2)          8 below
//     8-bit A, registers   16 w + 2 g (prepared weights: 16 w + g)               1 below
//
// Law: each order has every row once (tests/kernel)
#pragma once

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/base/hd.hpp"
#include "tilewright/kernel/sm90/config.hpp"

namespace tw {

template <gemm_config C>
struct fragment_rows {
  static constexpr bool of_words = C.a_in_registers() && size_bytes(C.a.stored) == 4;
  static constexpr bool of_bytes =
      C.a_in_registers() && !C.weights() && size_bytes(C.a.stored) == 1;
  /// Between the two rows of a thread.
  static constexpr int distance = of_bytes ? 1 : accumulator_map::row_distance;

  /// The first row of a thread.
  TW_HD static constexpr int row_of(int warp, int lane) {
    int const g = lane / 4;
    return of_words   ? g % 4 + 4 * (warp % 2) + 16 * (g / 4) + 32 * (warp / 2)
           : of_bytes ? 16 * warp + 2 * g
                      : accumulator_map::row_of(warp, lane);
  }
  TW_HD static constexpr int row_of_register(int i) {
    return distance * accumulator_map::row_index(i);
  }
  /// Row i of the 16 that a warp has, as wgmma numbers them.
  TW_HD static constexpr int row_of_warp(int warp, int i) {
    return row_of(warp, 4 * (i % 8)) + distance * (i / 8);
  }
};

}  // namespace tw
