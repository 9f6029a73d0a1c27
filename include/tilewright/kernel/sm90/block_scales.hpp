// SPDX-License-Identifier: Apache-2.0
// block_scales.hpp  Scales of A and B in the main loop: the sum of each K block is multiplied by
//                   scale_a(m) scale_b(n) when it is added (problem/scale_place.hpp).
//
// Three warps beside the producer's copy the scales of a K block's rows and columns to the stage of
// that K block: float32 by cp.async, others through registers. They arrive at the stage's barrier
// `ab_landed` as the boxes of A and B do. Of B there are two cases, and a main loop for each:
//
//   few      128 columns and more share a scale (128x128 blocks): a tile has one or two
//   columns  each column has another scale (1x128 blocks)
#pragma once

#include <math.h>

#include <type_traits>

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/scale_at.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/params.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

enum class scales_of_b { few, columns };

/// Scales of a tile's rows, then of its columns, for one K block.
template <gemm_config C>
struct stage_scales {
  struct alignas(8) pair {  // of neighbouring rows, or of neighbouring columns: those of a thread
    float of[2];
  };
  pair pairs[(C.tile_m + C.tile_n) / 2];
  TW_DEVICE float& at(int i) { return pairs[i / 2].of[i % 2]; }
};

/// Threads that copy scales: the warps of the producer's warpgroup that do not load A and B.
inline constexpr int scale_threads = 3 * warp_threads;

/// Shared memory for the scales of each stage, and the barriers that say when it may be written
/// again; kernels without scales in the main loop have none.
template <gemm_config C, bool = C.scaled()>
struct block_scales_smem {
  static constexpr int writers = 0;
  TW_DEVICE void init() {}
  TW_DEVICE void skip(int) {}
};
template <gemm_config C>
struct block_scales_smem<C, true> {
  stage_scales<C> of_stage[C.stages];
  mbarrier scales_read[C.stages];  // by each warp of the consumers
  static_assert(sizeof(of_stage) == C.scale_bytes());
  /// Threads that arrive at the barrier of a stage, beside the one that loads A and B.
  static constexpr int writers = scale_threads;

  TW_DEVICE void init() {
    for (int i = 0; i < C.stages; ++i)
      scales_read[i].init(C.math_warpgroups() * warpgroup_threads / warp_threads);
  }
  /// A thread's signal, for all warps of its warpgroup, that they do not need the scales.
  TW_DEVICE void skip(int stage) {
    for (int warp = 0; warp < warps_of_warpgroup; ++warp) scales_read[stage].arrive();
  }
};

/// Has a tile one or two scales of B?
TW_DEVICE bool has_few_scales(gemm_params const& p) {
  return p.b_scales.data == nullptr || p.b_scales.outer_log2 >= block_outer_log2;
}

/// Where the second scale of B begins, in columns of a tile whose first column is `col`.
template <gemm_config C>
TW_DEVICE int second_scale_from(gemm_params const& p, int col) {
  int const log2 = p.b_scales.outer_log2;
  return log2 >= all_outer_log2 ? C.tile_n : (((col >> log2) + 1) << log2) - col;
}

/// How many scales of B a tile has.
template <gemm_config C, scales_of_b B>
struct scale_count {
  static constexpr bool few = B == scales_of_b::few;
  /// Where tiles begin is a multiple of this.
  static constexpr int alignment = C.tile_n & -C.tile_n;
  static constexpr int block = 1 << block_outer_log2;  // columns that share a scale, at least
  static_assert(!few || alignment > block || C.tile_n - alignment <= block,
                "[TW0206] the columns of a tile with block scales lie in two blocks at most");
  /// Tiles that lie in one block of columns: one scale serves all.
  static constexpr bool one = few && C.tile_n == alignment && C.tile_n <= block;
  static constexpr int value = one ? 1 : few ? 2 : C.tile_n;
  /// Columns of a tile that have the same scale wherever the tile lies.
  static constexpr int step = few ? (alignment < block ? alignment : block) : 1;
};

/// Copies the scales of a tile to the stages, one K block after another. scale_threads threads
/// share the work; this is one of them.
template <gemm_config C, scales_of_b B>
class scale_copies {
 public:
  static constexpr bool few = B == scales_of_b::few;
  static constexpr int rows = C.tile_m, cols = scale_count<C, B>::value;
  /// How many scales each thread copies for a K block.
  static constexpr int copies = (rows + cols + scale_threads - 1) / scale_threads;

  /// A tensor of scales has less than 2^32 of them (family/sm90_gemm/computes.hpp).
  using index = std::uint32_t;

  /// Rows from `row`, columns of B from column `col` of the tile's D.
  TW_DEVICE scale_copies(gemm_params const& p, int thread, int row, int col, int matrix)
      : p_(p),
        thread_(thread) {
    int const second = few ? second_scale_from<C>(p, col) : 0;
    TW_UNROLL
    for (int i = 0; i < copies; ++i) {
      int const t = item(i), c = few ? (t == rows ? 0 : second) : t - rows;
      first_[i] = t < rows
                      ? first_scale<index>(p.a_scales, row + t < p.m ? row + t : p.m - 1, matrix)
                      : first_scale<index>(p.b_scales, column(col, c), matrix);
    }
  }

  /// K blocks [begin, end) to their stages.
  template <class Smem>
  TW_DEVICE void run(Smem& s, ring<C.stages>& slot, int begin, int end) const {
    bool const float_scales = p_.a_scales.data != nullptr && p_.b_scales.data != nullptr &&
                              p_.a_scales.ue8m0 == 0 && p_.b_scales.ue8m0 == 0;
    if (float_scales) {
      index at[copies] = {};
      each([&](int i, operand_scales const& of) {
        at[i] = first_[i] + static_cast<index>(begin * of.stride_k);
      });
      fill(s, slot, end - begin, [&](stage_scales<C>& stage, mbarrier& landed, int) {
        each([&](int i, operand_scales const& of) {
          cp_async<4>(&stage.at(item(i)), static_cast<float const*>(of.data) + at[i]);
          at[i] += static_cast<index>(of.stride_k);
        });
        cp_async_mbarrier_arrive_noinc(landed);
      });
    } else {
      fill(s, slot, end - begin, [&](stage_scales<C>& stage, mbarrier& landed, int k) {
        each([&](int i, operand_scales const& of) {
          stage.at(item(i)) = scale_at(of, first_[i], begin + k);
        });
        landed.arrive();
      });
    }
  }

 private:
  /// Which scale the thread copies: of a row, then of a column.
  TW_DEVICE int item(int i) const { return thread_ + i * scale_threads; }

  /// Calls use(i, the scales of its operand) for each scale of the thread.
  template <class Use>
  TW_DEVICE void each(Use const& use) const {
    TW_UNROLL
    for (int i = 0; i < copies; ++i) {
      if (item(i) < rows)
        use(i, p_.a_scales);
      else if (item(i) < rows + cols)
        use(i, p_.b_scales);
    }
  }

  /// Calls copy(stage, the barrier to arrive at, number of the K block) for as many K blocks, each
  /// when the consumers have read what its stage held.
  template <class Smem, class Copy>
  TW_DEVICE static void fill(Smem& s, ring<C.stages>& slot, int blocks, Copy const& copy) {
    TW_NO_UNROLL
    for (int k = 0; k < blocks; ++k, slot.next()) {
      s.scales.scales_read[slot.stage].wait(slot.phase ^ 1U);
      copy(s.scales.of_stage[slot.stage], s.ab_landed[slot.stage], k);
    }
  }

  /// The column of B that is column c of the tile, or the last. With a gate groups of 8 gates and
  /// of 8 columns that they multiply take turns.
  TW_DEVICE int column(int first, int c) const {
    if constexpr (C.gated()) {
      fused_params const& f = p_.epilogue.fused;
      constexpr int group = C.gate_group, pair = 2 * group, gate_group_log2 = 3;
      static_assert(1 << gate_group_log2 == group);
      int const d = first + c / pair * group + c % group, last = p_.epilogue.n - 1;
      return (d < last ? d : last) * f.gate_step + (c >> gate_group_log2 & 1) * f.up_offset;
    }
    return first + c < p_.n ? first + c : p_.n - 1;
  }

  gemm_params const& p_;
  int const thread_;
  index first_[copies];
};

/// A consumer's thread and the scales of its rows and columns, one K block after another.
template <gemm_config C, scales_of_b B>
class block_scales {
 public:
  static constexpr int fragments = C.fragments();
  static constexpr bool few = B == scales_of_b::few;
  static constexpr int step = scale_count<C, B>::step;
  static constexpr int factors = few ? C.tile_n / step : 1;  // of a row, that registers hold

  /// Rows of the tile from `first_row` on; `col` is the first column of its D.
  TW_DEVICE block_scales(gemm_params const& p, int first_row, int col)
      : row_(first_row + accumulator_map::row_of(warp_id() % 4, lane_id())),
        second_from_(factors > 1 ? second_scale_from<C>(p, col) : C.tile_n) {}

  /// Before the first add() of a K block: reads its scales, except those of single columns.
  TW_DEVICE void read(stage_scales<C>& of_block) {
    of_block_ = &of_block;
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int r = 0; r < accumulator_map::rows; ++r) {
        float const of_row = of_block.at(row_ + wgmma_m * f + accumulator_map::row_distance * r);
        TW_UNROLL
        for (int c = 0; c < factors; ++c)
          factor_[f][r][c] =
              few ? of_row * of_block.at(C.tile_m + (c * step >= second_from_ ? 1 : 0)) : of_row;
      }
    });
  }

  /// Elements of `to`, from `first` on, += from, times the scales: columns of the tile from
  /// 2 * first on.
  template <class Fragments, class Parts>
  TW_DEVICE void add(Fragments& to, Parts& from, int first) const {
    constexpr int size = std::remove_reference_t<decltype(from[0])>::size;
    constexpr int regs = accumulator_map::regs_of_8_cols;
    auto const* const of_cols =
        of_block_->pairs + C.tile_m / 2 + first + accumulator_map::col_of(lane_id()) / 2;
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int g = 0; g < size / regs; ++g) {
        int const col = 2 * first + 8 * g;
        auto const of_col = few ? typename stage_scales<C>::pair{} : of_cols[4 * g];
        TW_UNROLL
        for (int i = regs * g; i < regs * (g + 1); ++i) {
          auto const& of_row = factor_[f][accumulator_map::row_index(i)];
          float const factor = few ? of_row[col / step] : of_row[0] * of_col.of[i % 2];
          to[f][first + i] = fmaf(factor, from[f][i], to[f][first + i]);
        }
      }
    });
  }

 private:
  int const row_;          // the thread's first, in the tile
  int const second_from_;  // few: from this column of the tile on the second scale holds
  stage_scales<C>* of_block_ = nullptr;
  float factor_[fragments][accumulator_map::rows][factors];  // of the K block that was read
};

}  // namespace tw
