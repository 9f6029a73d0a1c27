// SPDX-License-Identifier: Apache-2.0
// block_scales.hpp  Scales of A and B in the main loop: the sum of each K block is multiplied by
//                   scale_a(m) scale_b(n) when it is added (problem/scale_place.hpp).
//
// Three warps beside the producer's copy the scales of a K block's rows and columns to the stage of
// that K block: float32 by cp.async, row scales that are adjacent in global memory by one bulk
// copy, others through registers. They arrive at the stage's barrier `ab_landed` as the boxes of A
// and B do. Of B there are two cases, and a main loop for each:
//
//   blocks   128 columns and more share a scale (128x128 blocks): a tile has one or two, with a
//            gate one for the gate columns and one for the up columns
//   columns  each column has another scale (1x128 blocks)
//
// Kernels whose fragments share an accumulator have one of the loops alone: both spill.
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
#include "tilewright/kernel/sm90/gather_rows.hpp"
#include "tilewright/kernel/sm90/params.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

enum class scales_of_b { blocks, columns };

/// Scales of two neighbouring columns, which a thread reads at once.
struct alignas(8) scale_pair {
  float of[2];
};

/// Scales of a tile's rows, then of its columns, for one K block.
template <gemm_config C>
struct stage_scales {
  alignas(16) float of[C.tile_m + C.tile_n];
};

/// Threads that copy scales: the warps of the producer's warpgroup that do not load A and B.
inline constexpr int scale_threads = 3 * warp_threads;

/// Has a tile one or two scales of B?
template <gemm_config C>
TW_DEVICE bool has_block_scales(gemm_params const& p) {
  if constexpr (C.in_turn()) return C.sums == sum_form::scaled;
  return !C.gated() && (p.b_scales.data == nullptr || p.b_scales.outer_log2 >= block_outer_log2);
}

/// Threads that copy the column scales if a bulk copy loads the row scales.
TW_DEVICE constexpr int column_threads(bool by_block) {
  return by_block ? 2 : scale_threads - warp_threads;
}

/// The CTAs of a cluster have the same rows, and multicast the scales of these rows.
template <gemm_config C, bool = C.scaled() && (C.cluster_n > 1)>
struct common_scales_smem {
  TW_DEVICE void init() {}
};
template <gemm_config C>
struct common_scales_smem<C, true> {
  mbarrier read_by_all[C.stages];  // by the consumers of all CTAs; a thread of each CTA arrives
  TW_DEVICE void init() {
    for (mbarrier& all : read_by_all) all.init(C.cluster_n);
  }
};

/// Shared memory for the scales of each stage, and the barriers that say when it may be written
/// again; kernels without scales in the main loop have none.
template <gemm_config C, bool = C.scaled()>
struct block_scales_smem {
  TW_DEVICE static int writers(gemm_params const&) { return 0; }
  TW_DEVICE void init() {}
  TW_DEVICE void skip(int) {}
};
template <gemm_config C>
struct block_scales_smem<C, true> {
  stage_scales<C> of_stage[C.stages];
  mbarrier scales_read[C.stages];  // by each warp of the consumers
  [[no_unique_address]] common_scales_smem<C> common;
  static_assert(sizeof(of_stage) == C.scale_bytes());
  /// How many threads arrive at the barrier of a stage besides the thread that loads A and B. By
  /// bulk copies: one thread for the scales of the rows, and column_threads. Else: all threads of
  /// the warps that copy scales.
  TW_DEVICE static int writers(gemm_params const& p) {
    return C.bulk_copies_scales() && p.a_scales_by_bulk != 0
               ? 1 + column_threads(has_block_scales<C>(p))
               : scale_threads;
  }

  TW_DEVICE void init() {
    for (int i = 0; i < C.stages; ++i)
      scales_read[i].init(C.math_warpgroups() * warpgroup_threads / warp_threads);
    common.init();
  }
  /// A thread's signal, for all warps of its warpgroup, that they do not need the scales.
  TW_DEVICE void skip(int stage) {
    for (int warp = 0; warp < warps_of_warpgroup; ++warp) scales_read[stage].arrive();
  }
};

/// Where the second scale of B begins, in columns of a tile whose first column is `col`.
template <gemm_config C>
TW_DEVICE int second_scale_from(gemm_params const& p, int col) {
  int const log2 = p.b_scales.outer_log2;
  return log2 >= all_outer_log2 ? C.tile_n : (((col >> log2) + 1) << log2) - col;
}

/// How many scales of B a tile has.
template <gemm_config C, scales_of_b B>
struct scale_count {
  static constexpr bool by_block = B == scales_of_b::blocks;
  /// Where tiles begin is a multiple of this.
  static constexpr int alignment = C.tile_n & -C.tile_n;
  static constexpr int block = 1 << block_outer_log2;  // columns that share a scale, at least
  static_assert(!by_block || alignment > block || C.tile_n - alignment <= block,
                "[TW0206] the columns of a tile with block scales lie in two blocks at most");
  /// Tiles that lie in one block of columns: one scale serves all. With a gate, the gate
  /// columns lie in one block and the up columns in one (family/sm90_gemm/computes.hpp).
  static constexpr bool one = by_block && !C.gated() && C.tile_n == alignment && C.tile_n <= block;
  static constexpr int value = one ? 1 : by_block ? 2 : C.tile_n;
  /// Columns of a tile that have the same scale wherever the tile lies.
  static constexpr int step = by_block ? (alignment < block ? alignment : block) : 1;
};

/// Copies the scales of a tile to the stages, one K block after another. scale_threads threads
/// share the work; this is one of them.
template <gemm_config C, scales_of_b B>
class scale_copies {
 public:
  static constexpr bool by_block = B == scales_of_b::blocks;
  static constexpr int rows = C.tile_m, cols = scale_count<C, B>::value;
  /// How many scales each thread copies for a K block.
  static constexpr int copies = (rows + cols + scale_threads - 1) / scale_threads;

  /// A tensor of scales has less than 2^32 of them (family/sm90_gemm/computes.hpp).
  using index = std::uint32_t;

  /// Rows from `row`, columns of B from column `col` of the tile's D.
  TW_DEVICE scale_copies(gemm_params const& p, int thread, int row, int col, int matrix)
      : p_(p),
        thread_(thread),
        row_(row),
        col_(col),
        matrix_(matrix) {}

  /// K blocks [begin, end) to their stages; the thread gathers rows too, if `gather` is on.
  template <class Smem>
  TW_DEVICE void run(Smem& s, ring<C.stages>& slot, int begin, int end,
                     row_gather<C>& gather) const {
    if constexpr (C.bulk_copies_scales()) {
      if (p_.a_scales_by_bulk != 0) {
        // Read from the parameters: with a constant ptxas spills in the tile of 192x128.
        if (thread_ == 0)
          load_rows(s, slot, begin, end);
        else if (thread_ >= warp_threads &&
                 thread_ - warp_threads < column_threads(has_block_scales<C>(p_)))
          copy_columns(s, slot, begin, end);
        return;
      }
    }
    copy_all(s, slot, begin, end, gather);
  }

 private:
  /// A bulk copy of the scales of the tile's rows, for each K block. Each CTA of a cluster copies
  /// a share of the rows to all.
  template <class Smem>
  TW_DEVICE void load_rows(Smem& s, ring<C.stages>& slot, int begin, int end) const {
    constexpr int bytes_each = size_bytes(elem::f32), share = rows / C.cluster_n;
    int const here = in_tile(p_.m - row_, rows);
    int const first = C.cluster_n == 1 ? 0 : cluster_rank() * share;  // of this CTA's share
    int const mine = C.cluster_n == 1 ? here : in_tile(here - first, share);
    auto const* from = static_cast<float const*>(p_.a_scales.data) +
                       first_scale<std::int64_t>(p_.a_scales, row_ + first, matrix_) +
                       begin * p_.a_scales.stride_k;
    row_gather<C> none(p_);
    fill(s, slot, end - begin, none, [&](stage_scales<C>& stage, mbarrier& landed, int) {
      landed.arrive_expect_tx(here * bytes_each);
      leave_undefined(stage.of + here, (rows - here) * bytes_each);
      if constexpr (C.cluster_n == 1) {
        bulk_load(stage.of, from, here * bytes_each, landed);
      } else {
        // This thread has waited for the consumers of its CTA. The release costs a fence of the
        // GPU, which is not in the consumers' loop (docs/decisions/0004).
        mbarrier& all = s.scales.common.read_by_all[slot.stage];
        TW_UNROLL
        for (int cta = 0; cta < C.cluster_n; ++cta) all.template arrive_remote<scope::cluster>(cta);
        all.template wait<scope::cluster>(slot.phase);
        constexpr auto every = static_cast<std::uint16_t>((1 << C.cluster_n) - 1);
        if (mine > 0) bulk_load_multicast(stage.of + first, from, mine * bytes_each, landed, every);
      }
      from += p_.a_scales.stride_k;
    });
  }
  /// Of `max` rows, those inside a matrix that ends `left` rows after the first of them.
  TW_DEVICE static int in_tile(int left, int max) {
    return left <= 0 ? 0 : left < max ? left : max;
  }

  /// The column scales by cp.async, beside load_rows().
  template <class Smem>
  TW_DEVICE void copy_columns(Smem& s, ring<C.stages>& slot, int begin, int end) const {
    constexpr int threads = column_threads(by_block);
    constexpr int each = (cols + threads - 1) / threads;
    int const first = thread_ - warp_threads;
    index at[each];
    TW_UNROLL
    for (int i = 0; i < each; ++i)
      at[i] =
          first_of_column(first + i * threads) + static_cast<index>(begin * p_.b_scales.stride_k);
    row_gather<C> none(p_);
    fill(s, slot, end - begin, none, [&](stage_scales<C>& stage, mbarrier& landed, int) {
      TW_UNROLL
      for (int i = 0; i < each; ++i)
        if (first + i * threads < cols) {
          cp_async<4>(stage.of + rows + first + i * threads,
                      static_cast<float const*>(p_.b_scales.data) + at[i]);
          at[i] += static_cast<index>(p_.b_scales.stride_k);
        }
      cp_async_mbarrier_arrive_noinc(landed);
    });
  }

  /// Index of the scale number `i` of the tile's columns, for K block 0.
  TW_DEVICE index first_of_column(int i) const {
    int const c = !by_block   ? i
                  : i == 0    ? 0
                  : C.gated() ? C.gate_group
                              : second_scale_from<C>(p_, col_);
    return first_scale<index>(p_.b_scales, token<group_axis::n>(column(col_, c)), matrix_);
  }
  TW_DEVICE index first_of_row(int i) const {
    return first_scale<index>(p_.a_scales,
                              token<group_axis::m>(row_ + i < p_.m ? row_ + i : p_.m - 1), matrix_);
  }
  /// Row i of those that groups of this axis divide, or the row that is gathered for it.
  template <group_axis Axis>
  TW_DEVICE int token(int i) const {
    if constexpr (C.gathers() && C.ragged == Axis) {
      if (row_gather<C>::is_on(p_)) {
        int const row = gathered_row(p_.epilogue.group, i);
        return row < 0 ? 0 : row;
      }
    }
    return i;
  }

  /// All scales by cp.async, or through registers.
  template <class Smem>
  TW_DEVICE void copy_all(Smem& s, ring<C.stages>& slot, int begin, int end,
                          row_gather<C>& gather) const {
    index first[copies];
    TW_UNROLL
    for (int i = 0; i < copies; ++i) {
      int const t = item(i);
      first[i] = t < rows ? first_of_row(t) : first_of_column(t - rows);
    }
    bool const float_scales = p_.a_scales.data != nullptr && p_.b_scales.data != nullptr &&
                              p_.a_scales.ue8m0 == 0 && p_.b_scales.ue8m0 == 0;
    if (float_scales) {
      index at[copies] = {};
      each([&](int i, operand_scales const& of) {
        at[i] = first[i] + static_cast<index>(begin * of.stride_k);
      });
      fill(s, slot, end - begin, gather, [&](stage_scales<C>& stage, mbarrier& landed, int) {
        each([&](int i, operand_scales const& of) {
          cp_async<4>(stage.of + item(i), static_cast<float const*>(of.data) + at[i]);
          at[i] += static_cast<index>(of.stride_k);
        });
        cp_async_mbarrier_arrive_noinc(landed);
      });
    } else {
      fill(s, slot, end - begin, gather, [&](stage_scales<C>& stage, mbarrier& landed, int k) {
        each([&](int i, operand_scales const& of) {
          stage.of[item(i)] = scale_at(of, first[i], begin + k);
        });
        landed.arrive();
      });
    }
  }

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

  /// Calls copy(stage, the barrier to arrive at, number of the K block) once per K block, after the
  /// consumers have released the stage.
  template <class Smem, class Copy>
  TW_DEVICE void fill(Smem& s, ring<C.stages>& slot, int blocks, row_gather<C>& gather,
                      Copy const& copy) const {
    TW_NO_UNROLL
    for (int k = 0; k < blocks; ++k, slot.next()) {
      s.scales.scales_read[slot.stage].wait(slot.phase ^ 1U);
      copy(s.scales.of_stage[slot.stage], s.ab_landed[slot.stage], k);
      if constexpr (C.gathers()) {
        if (gather.is_on(p_)) gather.load(s, slot, k);
      }
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
  int const thread_, row_, col_, matrix_;
};

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
