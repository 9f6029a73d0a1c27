// SPDX-License-Identifier: Apache-2.0
// block_scales.hpp  The consumers' half of scales in the main loop: factors of a thread's rows and
//                   columns, by which it multiplies the sums of a K block (stage_scales.hpp).
#pragma once

#include <math.h>

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/params.hpp"
#include "tilewright/kernel/sm90/stage_scales.hpp"

namespace tw {

/// A consumer's thread and the scales of its rows and columns, one K block after another.
template <gemm_config C, scales_of_b B>
class block_scales {
 public:
  static constexpr int fragments = C.fragments();
  static constexpr bool by_block = B == scales_of_b::blocks;
  static constexpr int step = scale_count<C, B>::step;
  /// In registers, for each row; with a gate one for gate columns and one for up columns.
  static constexpr int factors = !by_block ? 1 : C.gated() ? 2 : C.tile_n / step;

  /// Rows of the tile from `first_row` on; `col` is the first column of its D.
  TW_DEVICE block_scales(gemm_params const& p, int first_row, int col)
      : row_(first_row + accumulator_map::row_of(warp_id() % 4, lane_id())),
        second_from_(factors > 1 && !C.gated() ? second_scale_from<C>(p, col) : C.tile_n) {}

  /// Before the first add() of a K block: reads its scales, except the scales of single columns.
  template <class Smem>
  TW_DEVICE void read(Smem& s, int stage) {
    stage_scales<C>& of_block = s.scales.of_stage[stage];
    of_block_ = &of_block;
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int r = 0; r < accumulator_map::rows; ++r) {
        float const of_row = of_block.of[row_ + wgmma_m * f + accumulator_map::row_distance * r];
        TW_UNROLL
        for (int c = 0; c < factors; ++c) {
          int const i = C.gated() ? c : c * step >= second_from_ ? 1 : 0;
          factor_[f][r][c] = by_block ? of_row * of_block.of[C.tile_m + i] : of_row;
        }
      }
    });
    // A bulk copy will overwrite the scales of the rows. Here the fence lies under the wgmmas.
    if constexpr (C.bulk_copies_scales()) fence_proxy_async();
    if constexpr (by_block) signal(s, stage);
  }
  /// After the last add() of a K block.
  template <class Smem>
  TW_DEVICE void finish(Smem& s, int stage) const {
    if constexpr (!by_block) signal(s, stage);
  }

  /// Elements of `to`, from `first` on, += from, times the scales: columns of the tile from
  /// 2 * first on.
  template <class Fragments, class Parts>
  TW_DEVICE void add(Fragments& to, Parts& from, int first) const {
    unrolled<fragments>([&](auto f) { this->template add<f>(to[f], from[f], first); });
  }
  /// Of fragment F alone.
  template <int F, class To, class From>
  TW_DEVICE void add(To& to, From& from, int first) const {
    constexpr int regs = accumulator_map::regs_of_8_cols;
    float const* const of_cols =
        of_block_->of + C.tile_m + 2 * first + accumulator_map::col_of(lane_id());
    TW_UNROLL
    for (int g = 0; g < From::size / regs; ++g) {
      int const col = 2 * first + 8 * g;
      scale_pair const of_col =
          by_block ? scale_pair{} : *reinterpret_cast<scale_pair const*>(of_cols + 8 * g);
      TW_UNROLL
      for (int i = regs * g; i < regs * (g + 1); ++i) {
        auto const& of_row = factor_[F][accumulator_map::row_index(i)];
        float const factor = by_block ? of_row[factor_of(col)] : of_row[0] * of_col.of[i % 2];
        to[first + i] = fmaf(factor, from[i], to[first + i]);
      }
    }
  }

 private:
  /// The number of a column's factor. With a gate, groups of gate and up columns alternate.
  TW_DEVICE static constexpr int factor_of(int col) {
    return C.gated() ? col / C.gate_group % 2 : col / step;
  }
  /// The scales of the stage may be overwritten, as far as this warp is concerned.
  template <class Smem>
  TW_DEVICE static void signal(Smem& s, int stage) {
    warp_sync();
    if (lane_id() == 0) s.scales.scales_read[stage].arrive();
  }

  int const row_;          // the thread's first, in the tile
  int const second_from_;  // by_block: from this column of the tile on the second scale holds
  stage_scales<C>* of_block_ = nullptr;
  float factor_[fragments][accumulator_map::rows][factors];  // of the K block that was read
};

}  // namespace tw
