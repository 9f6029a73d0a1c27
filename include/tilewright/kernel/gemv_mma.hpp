// SPDX-License-Identifier: Apache-2.0
// gemv_mma.hpp  A warp's part of a GEMV for up to 8 columns: 16 rows on the tensor cores, fragments
//               straight from global memory.
//
// A sum over K does not change if K is permuted alike in both operands. Lane l loads 16 contiguous
// bytes of rows l / 4 and l / 4 + 8 and of column l / 4, piece l % 4 of a step of 32 elements.
// Where the first k16 instruction wants its elements 2 (l % 4) and the next, and those 8 further,
// it gets elements 0, 1 and 2, 3 of the piece; the second instruction gets the other four.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/gemv_config.hpp"
#include "tilewright/kernel/gemv_params.hpp"

namespace tw {

template <gemv_config C>
struct gemv_mma {
  static_assert(C.rows == 16 && C.cols == 8,
                "[TW0223] a GEMV by mma.sync has 16 rows and 8 columns");

  /// Sums of the warp's part of K: put(row, col, sum), each from one lane. A warp takes `unroll`
  /// steps that follow each other, 64 bytes of each row; the warps that share K take turns.
  template <class Put>
  TW_DEVICE static void run(gemv_place const& at, Put put) {
    int const of = lane_id() / 4;
    std::byte const* const row[2] = {at.row(of), at.row(of + 8)};
    std::byte const* const col = at.col(of);
    float sum[4] = {};
    int piece = C.step_pieces() * C.unroll * at.warp_k + lane_id() % 4;
    int const turns = at.pieces / C.turn_pieces();
    for (int i = 0; i < turns; ++i, piece += C.turn_pieces())
      turn<false>(row, col, piece, at.pieces, sum);
    if (turns * C.turn_pieces() < at.pieces) turn<true>(row, col, piece, at.pieces, sum);
    TW_UNROLL
    for (int i = 0; i < 4; ++i) put(of + i / 2 * 8, 2 * (lane_id() % 4) + i % 2, sum[i]);
  }

 private:
  /// `unroll` steps. Cut: some pieces may lie beyond K; they count as zero.
  template <bool Cut>
  TW_DEVICE static void turn(std::byte const* const (&row)[2], std::byte const* col, int first,
                             int pieces, float (&sum)[4]) {
    b32<4> a[C.unroll][2], b[C.unroll];
    TW_UNROLL
    for (int u = 0; u < C.unroll; ++u) {
      int const piece = first + u * C.step_pieces();
      std::int64_t const offset = std::int64_t{16} * (Cut && piece >= pieces ? 0 : piece);
      a[u][0] = load_16_once(row[0] + offset);
      a[u][1] = load_16_once(row[1] + offset);
      b[u] = load_16(col + offset);
    }
    TW_UNROLL
    for (int u = 0; u < C.unroll; ++u) {
      if (Cut && first + u * C.step_pieces() >= pieces) a[u][0] = a[u][1] = b[u] = b32<4>{};
      TW_UNROLL
      for (int i = 0; i < 4; i += 2)
        mma_sync<C.ab>(sum,
                       b32<4>{{a[u][0].r[i], a[u][1].r[i], a[u][0].r[i + 1], a[u][1].r[i + 1]}},
                       b32<2>{{b[u].r[i], b[u].r[i + 1]}});
    }
  }
};

}  // namespace tw
