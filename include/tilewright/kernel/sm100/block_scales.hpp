// SPDX-License-Identifier: Apache-2.0
// block_scales.hpp  Scales of A and B for blocks of K in the Blackwell GEMM: the sum of each K
//                   block is multiplied by scale_a(m) scale_b(n) when it is added
//                   (problem/scale_place.hpp).
//
// The tensor cores compute each K block into another accumulator. A warp of the epilogue takes the
// sums of its 32 rows out of it and adds them, times their scales, to float32 sums in registers, in
// the order of K. After the last K block it stores these in tensor memory, where the epilogue finds
// them as it finds those of other kernels.
//
// Thread t has row t of its warp. It reads the scales of a K block from global memory while it adds
// the block before. Of B there are two cases, and a loop for each: one scale for all columns of a
// tile, or one for each column, which the lanes of a warp exchange through shared memory.
#pragma once

#include <math.h>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/epilogue/add_c.hpp"
#include "tilewright/kernel/scale_at.hpp"
#include "tilewright/kernel/sm100/config.hpp"
#include "tilewright/kernel/sm100/params.hpp"
#include "tilewright/problem/quantize.hpp"

namespace tw {

/// The scales of four neighbouring columns of a tile.
struct alignas(16) column_scales {
  float of[4];
};

/// Shared memory for the scales of a tile's columns, for each warp of the epilogue; none in other
/// kernels.
template <sm100_config C, int Warps, bool = C.block_scales>
struct column_scales_smem {};
template <sm100_config C, int Warps>
struct column_scales_smem<C, Warps, true> {
  column_scales of_warp[Warps][C.tile_n / 4];
};

/// The sums of tiles of a kernel with block scales.
template <sm100_config C>
class sm100_scaled_sums {
 public:
  static constexpr int cols = C.tile_n;
  static_assert(cols <= scale_block_cols,
                "[TW0270] the columns of a tile with block scales lie in one block of B");

  /// To tensor memory at to(): sums of the warp's rows, from at.row < M on, and of the tile whose
  /// first column of D is at.col. next() waits for the accumulator of another K block and returns
  /// its address; loaded() frees it. exchange: of the warp.
  template <class To, class Next, class Loaded>
  TW_DEVICE static void store(sm100_params const& p, fragment_place at, column_scales* exchange,
                              To const& to, Next const& next, Loaded const& loaded) {
    float sum[cols];
    TW_UNROLL
    for (float& x : sum) x = 0;
    if (by_column(p.b_scales))
      add_blocks<true>(p, at, exchange, next, loaded, sum);
    else
      add_blocks<false>(p, at, exchange, next, loaded, sum);
    std::uint32_t const first = to();
    unrolled<cols / piece>([&](auto i) {
      words w;
      TW_UNROLL
      for (int j = 0; j < piece; ++j) w.r[j] = bits_of_float(sum[i * piece + j]);
      tmem_store<tmem_shape::l32x32b, piece>(tmem_at(first, 0, i * piece), w);
    });
    tmem_wait_store();
  }

 private:
  static constexpr int piece = 32;  // columns that are loaded from tensor memory at a time
  using words = tmem_words<tmem_shape::l32x32b, piece>;

  /// Have the columns of a tile several scales? With a gate they lie in two parts of B.
  TW_DEVICE static bool by_column(operand_scales const& b) {
    return b.data != nullptr && b.outer_log2 < (C.gated() ? all_outer_log2 : block_outer_log2);
  }

  /// The column of B that is column c of the tile, or the last one.
  TW_DEVICE static int column(epilogue_params const& e, int first, int c) {
    int const d = first + c % C.d_cols(), inside = d < e.n ? d : e.n - 1;
    return C.gated() ? inside * e.fused.gate_step + c / C.d_cols() * e.fused.up_offset : inside;
  }

  template <bool ByColumn, class Next, class Loaded>
  TW_DEVICE static void add_blocks(sm100_params const& p, fragment_place at,
                                   column_scales* exchange, Next const& next, Loaded const& loaded,
                                   float (&sum)[cols]) {
    constexpr int of_lane = ByColumn ? 4 : 1;  // columns whose scales a lane reads
    int const row = at.row + lane_id(), last = p.epilogue.m - 1;
    std::int64_t const first_of_row =
        first_scale<std::int64_t>(p.a_scales, row < last ? row : last, at.batch);
    std::int64_t first_of_col[of_lane];
    TW_UNROLL
    for (int i = 0; i < of_lane; ++i) {
      int const c = ByColumn ? (of_lane * lane_id() + i) % cols : 0;
      first_of_col[i] =
          first_scale<std::int64_t>(p.b_scales, column(p.epilogue, at.col, c), at.batch);
    }
    float of_row;
    column_scales of_col;
    auto const read = [&](int k) {
      of_row = scale_at(p.a_scales, first_of_row, k);
      TW_UNROLL
      for (int i = 0; i < of_lane; ++i) of_col.of[i] = scale_at(p.b_scales, first_of_col[i], k);
    };
    read(0);
    TW_NO_UNROLL
    for (int k = 0; k < p.k_blocks; ++k) {
      float const factor = ByColumn ? of_row : of_row * of_col.of[0];
      if constexpr (ByColumn) {
        if (of_lane * lane_id() < cols) exchange[lane_id()] = of_col;
        warp_sync();
      }
      read(k + 1 < p.k_blocks ? k + 1 : k);
      std::uint32_t const from = next();
      auto first = tmem_load<tmem_shape::l32x32b, piece>(from);
      add<ByColumn, 0>(from, first, factor, exchange, loaded, sum);
      if constexpr (ByColumn) warp_sync();  // the scales have been read
    }
  }

  /// sum += the columns of an accumulator from piece I on, times their scales; `part` is being
  /// loaded. The next piece is loaded while this one is added.
  template <bool ByColumn, int I, class Loaded>
  TW_DEVICE static void add(std::uint32_t from, words& part, float factor,
                            column_scales const* exchange, Loaded const& loaded,
                            float (&sum)[cols]) {
    tmem_wait_load(part);
    auto const add_part = [&] {
      TW_UNROLL
      for (int j = 0; j < piece; ++j) {
        constexpr int first = I * piece;
        float const scale =
            ByColumn ? factor * exchange[(first + j) / 4].of[(first + j) % 4] : factor;
        sum[first + j] = fmaf(scale, tmem_float(part.r[j]), sum[first + j]);
      }
    };
    if constexpr ((I + 1) * piece < cols) {
      auto then = tmem_load<tmem_shape::l32x32b, piece>(tmem_at(from, 0, (I + 1) * piece));
      add_part();
      add<ByColumn, I + 1>(from, then, factor, exchange, loaded, sum);
    } else {
      loaded();
      add_part();
    }
  }
};

}  // namespace tw
