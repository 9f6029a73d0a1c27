// SPDX-License-Identifier: Apache-2.0
// mma.hpp  A warp's part of a GEMV for up to 16 columns: 16 rows on the tensor cores,
//               fragments straight from global memory.
//
// A sum over K does not change if K is permuted alike in both operands. Lane l loads 16 contiguous
// bytes of rows l / 4 and l / 4 + 8 and of column l / 4, piece l % 4 of a step of 64 bytes.
// Where the first k16 instruction wants its elements 2 (l % 4) and the next, and those 8 further,
// it gets elements 0, 1 and 2, 3 of the piece; the second instruction gets the next four, and so
// on.
//
// 8-bit floats are f16 numbers: they become f16 in registers, so that their sums are those of f16
// operands, in float32.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/gemv/config.hpp"
#include "tilewright/kernel/gemv/params.hpp"

namespace tw {

template <gemv_config C>
struct gemv_mma {
  static_assert(C.rows == 16 && (C.cols == 8 || C.cols == 16),
                "[TW0223] a GEMV by mma.sync has 16 rows and 8 or 16 columns");
  static constexpr int row_groups = C.rows / 8, col_groups = C.cols / 8;

  /// Sums of the warp's part of K: put(row, col, sum), each from one lane. A warp takes `unroll`
  /// steps that follow each other, 64 bytes of each row; the warps that share K take iterations.
  template <class Put>
  TW_DEVICE static void run(gemv_place const& at, Put put) {
    int const of = lane_id() / 4;
    std::byte const *row[row_groups], *col[col_groups];
    TW_UNROLL
    for (int r = 0; r < row_groups; ++r) row[r] = at.row(of + 8 * r);
    TW_UNROLL
    for (int c = 0; c < col_groups; ++c) col[c] = at.col(of + 8 * c);
    sums sum = {};
    int piece = C.step_pieces() * C.unroll * at.warp_k + lane_id() % 4;
    int const iterations = at.pieces / C.iteration_pieces();
    for (int i = 0; i < iterations; ++i, piece += C.iteration_pieces())
      iterate<false>(row, col, piece, at.pieces, sum);
    if (iterations * C.iteration_pieces() < at.pieces)
      iterate<true>(row, col, piece, at.pieces, sum);
    TW_UNROLL
    for (int r = 0; r < row_groups; ++r) {
      TW_UNROLL
      for (int c = 0; c < col_groups; ++c) {
        TW_UNROLL
        for (int i = 0; i < 2; ++i)
          put(of + 8 * r, 8 * c + 2 * (lane_id() % 4) + i, sum[r / 2][c][r % 2 * 2 + i]);
      }
    }
  }

 private:
  using sums = float[row_groups / 2][col_groups][4];

  /// `unroll` steps. Cut: some pieces may lie beyond K; they count as zero.
  template <bool Cut>
  TW_DEVICE static void iterate(std::byte const* const (&row)[row_groups],
                                std::byte const* const (&col)[col_groups], int first, int pieces,
                                sums& sum) {
    b32<4> a[C.unroll][row_groups], b[C.unroll][col_groups];
    TW_UNROLL
    for (int u = 0; u < C.unroll; ++u) {
      int const piece = first + u * C.step_pieces();
      std::int64_t const offset = std::int64_t{16} * (Cut && piece >= pieces ? 0 : piece);
      TW_UNROLL
      for (int r = 0; r < row_groups; ++r) a[u][r] = load_16_once(row[r] + offset);
      TW_UNROLL
      for (int c = 0; c < col_groups; ++c) b[u][c] = load_16(col[c] + offset);
    }
    TW_UNROLL
    for (int u = 0; u < C.unroll; ++u) {
      if (Cut && first + u * C.step_pieces() >= pieces) {
        TW_UNROLL
        for (int r = 0; r < row_groups; ++r) a[u][r] = {};
        TW_UNROLL
        for (int c = 0; c < col_groups; ++c) b[u][c] = {};
      }
      TW_UNROLL
      for (int r = 0; r < row_groups; r += 2) {
        TW_UNROLL
        for (int c = 0; c < col_groups; ++c) multiply(a[u][r], a[u][r + 1], b[u][c], sum[r / 2][c]);
      }
    }
  }

  /// sum (16, 8) += A times B over one step, 64 bytes of K. A thread's pieces are those of rows
  /// lane / 4 (`upper`) and lane / 4 + 8 (`lower`) of A, and of column lane / 4 of B (`col`).
  TW_DEVICE static void multiply(b32<4> const& upper, b32<4> const& lower, b32<4> const& col,
                                 float (&sum)[4]) {
    if constexpr (size_bytes(C.ab) == 1) {
      TW_UNROLL
      for (int i = 0; i < 4; ++i)
        mma_sync<elem::f16>(sum,
                            b32<4>{{pair<0>(upper.r[i]), pair<0>(lower.r[i]), pair<1>(upper.r[i]),
                                    pair<1>(lower.r[i])}},
                            b32<2>{{pair<0>(col.r[i]), pair<1>(col.r[i])}});
    } else {
      TW_UNROLL
      for (int i = 0; i < 4; i += 2)
        mma_sync<C.ab>(sum, b32<4>{{upper.r[i], lower.r[i], upper.r[i + 1], lower.r[i + 1]}},
                       b32<2>{{col.r[i], col.r[i + 1]}});
    }
  }

  /// Elements 2 I and 2 I + 1 of four 8-bit floats, as f16.
  template <int I>
  TW_DEVICE static std::uint32_t pair(std::uint32_t four) {
    return unpack_fp8<C.ab>(four >> 16 * I).bits;
  }
};

}  // namespace tw
