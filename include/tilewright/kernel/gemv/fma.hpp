// SPDX-License-Identifier: Apache-2.0
// fma.hpp  A warp's part of a GEMV for one or two columns: multiply-adds in float32, each lane
//               on pieces of 16 bytes along K, and a sum over the lanes.
#pragma once

#include <math.h>

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/gemv/config.hpp"
#include "tilewright/kernel/gemv/params.hpp"

namespace tw {

template <gemv_config C>
struct gemv_fma {
  static_assert(C.cols <= 2 && C.rows >= 1 && C.rows <= 8 && size_bytes(C.ab) == 2,
                "[TW0223] a GEMV by fma has operands of 16 bits, 1 or 2 columns, at most 8 rows");

  /// Sums of the warp's part of K: put(row, col, sum), each from one lane. A step is 512 bytes of
  /// each row; the warps that share K take steps in turn.
  template <class Put>
  TW_DEVICE static void run(gemv_place const& at, Put put) {
    std::byte const *row[C.rows], *col[C.cols];
    TW_UNROLL
    for (int r = 0; r < C.rows; ++r) row[r] = at.row(r);
    TW_UNROLL
    for (int c = 0; c < C.cols; ++c) col[c] = at.col(c);
    float sum[C.rows][C.cols] = {};
    int piece = C.step_pieces() * at.warp_k + lane_id();
    int const iterations = at.pieces / C.iteration_pieces();
    for (int i = 0; i < iterations; ++i, piece += C.iteration_pieces())
      iterate<false>(row, col, piece, at.pieces, sum);
    if (iterations * C.iteration_pieces() < at.pieces)
      iterate<true>(row, col, piece, at.pieces, sum);
    TW_UNROLL
    for (int r = 0; r < C.rows; ++r) {
      TW_UNROLL
      for (int c = 0; c < C.cols; ++c) {
        float const s = over_lanes(sum[r][c]);
        if (lane_id() == 0) put(r, c, s);
      }
    }
  }

 private:
  /// `unroll` steps. Cut: some pieces may lie beyond K; they count as zero.
  template <bool Cut>
  TW_DEVICE static void iterate(std::byte const* const (&row)[C.rows],
                                std::byte const* const (&col)[C.cols], int first, int pieces,
                                float (&sum)[C.rows][C.cols]) {
    b32<4> a[C.unroll][C.rows];
    std::int64_t offset[C.unroll];
    TW_UNROLL
    for (int u = 0; u < C.unroll; ++u) {
      int const piece = first + u * C.step_pieces() * C.warps_k;
      offset[u] = std::int64_t{16} * (Cut && piece >= pieces ? 0 : piece);
      TW_UNROLL
      for (int r = 0; r < C.rows; ++r) a[u][r] = load_16_once(row[r] + offset[u]);
    }
    TW_UNROLL
    for (int u = 0; u < C.unroll; ++u) {
      bool const inside = !Cut || first + u * C.step_pieces() * C.warps_k < pieces;
      TW_UNROLL
      for (int c = 0; c < C.cols; ++c) {
        b32<4> const b = load_16(col[c] + offset[u]);
        if (inside) multiply(a[u], b, c, sum);
      }
    }
  }

  TW_DEVICE static void multiply(b32<4> const (&a)[C.rows], b32<4> const& b, int c,
                                 float (&sum)[C.rows][C.cols]) {
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      float const low = lower(b.r[i]), high = upper(b.r[i]);
      TW_UNROLL
      for (int r = 0; r < C.rows; ++r) {
        sum[r][c] = fmaf(lower(a[r].r[i]), low, sum[r][c]);
        sum[r][c] = fmaf(upper(a[r].r[i]), high, sum[r][c]);
      }
    }
  }

  TW_DEVICE static float lower(std::uint32_t both) {
    return to_float<C.ab>(static_cast<std::uint16_t>(both & 0xFFFFU));
  }
  TW_DEVICE static float upper(std::uint32_t both) {
    return to_float<C.ab>(static_cast<std::uint16_t>(both >> 16));
  }

  TW_DEVICE static float over_lanes(float x) {
    TW_UNROLL
    for (int mask = 16; mask > 0; mask /= 2) x += shuffle_xor(x, mask);
    return x;
  }
};

}  // namespace tw
