// SPDX-License-Identifier: Apache-2.0
// block_scales.hpp  Scales of A and B in the main loop: the sum of each K block is multiplied by
//                   scale_a(m) scale_b(n) when it is added (problem/scale_place.hpp).
//
// The threads of a warpgroup read the scales of its rows and columns, each one or two of them, and
// exchange them through shared memory. Of B there are two cases, and a main loop for each of them:
//
//   few      128 columns and more share a scale (128x128 blocks): a tile has one or two
//   columns  each column has another scale (1x128 blocks)
//
// K blocks come in batches: the scales of one are read from global memory while the batch before it
// is multiplied, for a load takes longer than a K block. Reading only loads the bits: they become
// floats at the beginning of their batch, and nothing waits for them earlier.
#pragma once

#include <math.h>

#include <type_traits>

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/params.hpp"

namespace tw {

/// How many columns share a scale where a tile has one or two of them.
inline constexpr int few_scales_log2 = 7;

enum class scales_of_b { few, columns };

/// Scales of a warpgroup's rows, then of the columns of its tile, of two K blocks in turn.
template <gemm_config C>
struct tile_scales {
  struct alignas(8) pair {  // of neighbouring rows, or of neighbouring columns: those of a thread
    float of[2];
  };
  struct of_block {
    pair pairs[(C.warpgroup_m() + C.tile_n) / 2];
    TW_DEVICE float& at(int i) { return pairs[i / 2].of[i % 2]; }
  };
  of_block block[2];
};

/// Shared memory for the scales, of each consumer; none in other kernels.
template <gemm_config C, bool = C.scaled()>
struct block_scales_smem {};
template <gemm_config C>
struct block_scales_smem<C, true> {
  tile_scales<C> of_consumer[C.math_warpgroups()];
  static_assert(sizeof(of_consumer) == C.scale_bytes());
};

/// Where the scale of K block 0 of a row or column lies in global memory, in scales.
TW_DEVICE std::int64_t first_scale(operand_scales const& s, int outer, int matrix) {
  return matrix * s.batch_stride + std::int64_t{outer >> s.outer_log2} * s.stride_outer;
}

/// A thread of a warpgroup and the scales of the warpgroup's tile, one batch of K blocks after
/// another.
template <gemm_config C, scales_of_b B>
class block_scales {
 public:
  /// K blocks of a batch: one where registers are scarce.
  static constexpr bool scarce =
      C.tile_n > (C.math_warpgroups() > 2 ? 96 : 160) || C.promote_k() < C.tile_k();
  static constexpr int batch = scarce ? 1 : 4;
  static constexpr int fragments = C.fragments();
  static constexpr bool few = B == scales_of_b::few;
  static constexpr int rows = C.warpgroup_m();
  /// Where tiles begin is a multiple of this.
  static constexpr int alignment = C.tile_n & -C.tile_n;
  static_assert(!few || alignment > 128 || C.tile_n - alignment <= 128,
                "[TW0206] the columns of a tile with block scales lie in two blocks at most");
  /// Tiles that lie in one block of columns: one scale serves all.
  static constexpr bool one = few && C.tile_n == alignment && C.tile_n <= 128;
  static constexpr int cols = one ? 1 : few ? 2 : C.tile_n;  // scales of B
  static constexpr int factors = few ? cols : 1;             // of a row, that registers hold
  /// Scales that a thread reads for a K block.
  static constexpr int reads = (rows + cols + warpgroup_threads - 1) / warpgroup_threads;

  /// Rows from `row`, columns of B from column `col` of the tile's D, `blocks` K blocks from
  /// `k_block` on.
  TW_DEVICE block_scales(gemm_params const& p, tile_scales<C>& shared, int consumer, int row,
                         int col, int matrix, int k_block, int blocks)
      : p_(p),
        shared_(shared),
        barrier_(1 + consumer),
        row_(accumulator_map::row_of(warp_id() % 4, lane_id())),
        k_block_(k_block),
        last_(k_block + blocks - 1) {
    int const log2 = p.b_scales.outer_log2;
    if constexpr (few) second_from_ = log2 >= 31 ? C.tile_n : (((col >> log2) + 1) << log2) - col;
    TW_UNROLL
    for (int i = 0; i < reads; ++i) {
      unrolled<batch>([&](auto k) { next_[k][i] = bits_of_float(1.0F); });
      int const t = item(i), c = few ? (t == rows ? 0 : second_from_) : t - rows;
      first_[i] = t < rows ? first_scale(p.a_scales, row + t < p.m ? row + t : p.m - 1, matrix)
                           : first_scale(p.b_scales, column(col, c), matrix);
    }
    if (blocks > 0) read();
  }

  /// The batch that was read last becomes that of share(); reads the next one, if there is one.
  TW_DEVICE void next_batch() {
    TW_UNROLL
    for (int i = 0; i < reads; ++i) {
      bool const ue8m0_bits = (item(i) < rows ? p_.a_scales.ue8m0 : p_.b_scales.ue8m0) != 0;
      unrolled<batch>([&](auto k) {
        now_[k][i] = ue8m0_bits ? to_float(ue8m0{static_cast<std::uint8_t>(next_[k][i])})
                                : float_of_bits(next_[k][i]);
      });
    }
    if (k_block_ <= last_) read();
  }

  /// Before the first add() of K block K of the batch: gives the scales to the warpgroup.
  template <int K>
  TW_DEVICE void share() {
    // The warpgroup reads the other half until this barrier. Between two tiles of a CTA the
    // epilogue or the reduction of parts has one.
    half_ ^= 1;
    auto& block = shared_.block[half_];
    TW_UNROLL
    for (int i = 0; i < reads; ++i)
      if (item(i) < rows + cols) block.at(item(i)) = now_[K][i];
    named_barrier_sync(barrier_, warpgroup_threads);
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int r = 0; r < accumulator_map::rows; ++r) {
        float const of_row = block.at(row_ + wgmma_m * f + accumulator_map::row_distance * r);
        TW_UNROLL
        for (int c = 0; c < factors; ++c)
          factor_[f][r][c] = few ? of_row * block.at(rows + c) : of_row;
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
        shared_.block[half_].pairs + rows / 2 + first + accumulator_map::col_of(lane_id()) / 2;
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int g = 0; g < size / regs; ++g) {
        int const col = 2 * first + 8 * g;
        auto const of_col = few ? typename tile_scales<C>::pair{} : of_cols[4 * g];
        TW_UNROLL
        for (int i = regs * g; i < regs * (g + 1); ++i) {
          auto const& of_row = factor_[f][accumulator_map::row_index(i)];
          float const factor = !few                                  ? of_row[0] * of_col.of[i % 2]
                               : factors == 2 && col >= second_from_ ? of_row[factors - 1]
                                                                     : of_row[0];
          to[f][first + i] = fmaf(factor, from[f][i], to[f][first + i]);
        }
      }
    });
  }

 private:
  /// Which scale the thread reads: of a row, then of a column.
  TW_DEVICE static int item(int i) {
    return thread_id() % warpgroup_threads + i * warpgroup_threads;
  }

  /// A batch from k_block_ on; of K blocks after the last one the last one's.
  TW_DEVICE void read() {
    TW_UNROLL
    for (int i = 0; i < reads; ++i) {
      if (item(i) < rows)
        read(p_.a_scales, i);
      else if (item(i) < rows + cols)
        read(p_.b_scales, i);
    }
    k_block_ += batch;
  }
  TW_DEVICE void read(operand_scales const& s, int i) {
    if (s.data == nullptr) return;  // the bits stay those of 1
    auto const at = [&](int k) {
      int const block = k_block_ + k < last_ ? k_block_ + k : last_, group = block >> s.packed_log2;
      return first_[i] + group * s.stride_k + (block - (group << s.packed_log2));
    };
    if (s.ue8m0 != 0)
      unrolled<batch>([&](auto k) { next_[k][i] = static_cast<words::b8 const*>(s.data)[at(k)]; });
    else
      unrolled<batch>([&](auto k) { next_[k][i] = static_cast<words::b32 const*>(s.data)[at(k)]; });
  }

  /// The column of B that is column c of the tile, or the last. With a gate groups of 8 gates and
  /// of 8 columns that they multiply take turns.
  TW_DEVICE int column(int first, int c) const {
    if constexpr (C.gated()) {
      fused_params const& f = p_.epilogue.fused;
      int const d = first + c / 16 * 8 + c % 8, last = p_.epilogue.n - 1;
      return (d < last ? d : last) * f.gate_step + (c >> 3 & 1) * f.up_offset;
    }
    return first + c < p_.n ? first + c : p_.n - 1;
  }

  gemm_params const& p_;
  tile_scales<C>& shared_;
  int const barrier_;
  int const row_;        // the thread's first, in the warpgroup's
  int k_block_;          // that the next batch begins with
  int const last_;       // K block
  int half_ = 0;         // of `shared_`
  int second_from_ = 0;  // few: from this column of the tile on the second scale holds
  std::int64_t first_[reads];
  float now_[batch][reads] = {};
  std::uint32_t next_[batch][reads];  // bits; those of 1 where the operand has no scales
  float factor_[fragments][accumulator_map::rows][factors];  // of the K block that was shared
};

/// Has a tile one or two scales of B?
TW_DEVICE bool has_few_scales(gemm_params const& p) {
  return p.b_scales.data == nullptr || p.b_scales.outer_log2 >= few_scales_log2;
}

}  // namespace tw
