// SPDX-License-Identifier: Apache-2.0
// block_scales.hpp  Scales of A and B in the main loop: the sum of each K block is multiplied by
//                   scale_a(m) scale_b(n) when it is added (problem/scale_place.hpp).
//
// A thread has two rows of a fragment, and reads their scales. Of B there are two cases, and a main
// loop for each of them:
//
//   few      128 columns and more share a scale (128x128 blocks): a tile has one or two, which each
//            thread reads
//   columns  each column has another scale (1x128 blocks): each thread reads those of one or two
//            columns, and the warpgroup exchanges them through shared memory
//
// The scales of a K block are read from global memory while the K block before it is multiplied.
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

/// Scales of the columns of a warpgroup's tile, of two K blocks in turn.
template <gemm_config C>
struct column_scales {
  struct pair {
    float of[2];  // neighbouring columns: those of a thread
  };
  pair of[2][C.tile_n / 2];
};

/// Shared memory for the scales, of each consumer; none in other kernels.
template <gemm_config C, bool = C.scaled()>
struct block_scales_smem {};
template <gemm_config C>
struct block_scales_smem<C, true> {
  column_scales<C> of_consumer[C.math_warpgroups()];
};

/// Scales along K of an operand in global memory, for one row or column.
struct scale_line {
  std::int64_t first;  // element of K block 0

  TW_DEVICE static scale_line of(operand_scales const& s, int outer, int batch) {
    return {batch * s.batch_stride + std::int64_t{outer >> s.outer_log2} * s.stride_outer};
  }
  /// From K block 0 to another, in elements.
  TW_DEVICE static std::int64_t distance(operand_scales const& s, int k_block) {
    int const k = s.one_k_block != 0 ? 0 : k_block;
    int const group = k >> s.packed_log2, in_group = k - (group << s.packed_log2);
    return group * s.stride_k + in_group;
  }
  /// 1 without scales.
  TW_DEVICE float at(operand_scales const& s, std::int64_t distance) const {
    if (s.data == nullptr) return 1.0F;
    if (s.ue8m0 != 0)
      return to_float(ue8m0{static_cast<words::b8 const*>(s.data)[first + distance]});
    return static_cast<words::f32 const*>(s.data)[first + distance];
  }
};

/// The scales that a thread needs for its elements of a tile, one K block after another.
template <gemm_config C, scales_of_b B>
class block_scales {
 public:
  static constexpr int fragments = C.fragments();
  static constexpr bool few = B == scales_of_b::few;
  /// Tiles begin at multiples of their columns: then one scale serves all.
  static constexpr bool one = few && (1 << few_scales_log2) % C.tile_n == 0;
  /// Scales of B that a thread reads for a K block.
  static constexpr int reads =
      few ? (one ? 1 : 2) : (C.tile_n + warpgroup_threads - 1) / warpgroup_threads;

  /// Rows from `row`, columns of B from column `col` of the tile's D, K blocks from `k_block`.
  TW_DEVICE block_scales(gemm_params const& p, column_scales<C>& shared, int consumer, int row,
                         int col, int batch, int k_block)
      : p_(p),
        shared_(shared),
        barrier_(1 + consumer),
        k_block_(k_block) {
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int r = 0; r < accumulator_map::rows; ++r) {
        int const i = row + accumulator_map::row_of(warp_id() % 4, lane_id()) + wgmma_m * f +
                      accumulator_map::row_distance * r;
        a_line_[f][r] = scale_line::of(p.a_scales, i < p.m ? i : p.m - 1, batch);
      }
    });
    int const log2 = p.b_scales.outer_log2;
    if constexpr (few) second_from_ = log2 >= 31 ? C.tile_n : (((col >> log2) + 1) << log2) - col;
    TW_UNROLL
    for (int i = 0; i < reads; ++i) {
      int const c = few ? (i == 0 ? 0 : second_from_)
                        : thread_id() % warpgroup_threads + i * warpgroup_threads;
      b_line_[i] = scale_line::of(p.b_scales, column(col, c), batch);
    }
  }

  /// Reads the scales of the next K block; there must be one.
  TW_DEVICE void read() {
    std::int64_t const a = scale_line::distance(p_.a_scales, k_block_);
    std::int64_t const b = scale_line::distance(p_.b_scales, k_block_);
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int r = 0; r < accumulator_map::rows; ++r)
        next_a_[f][r] = a_line_[f][r].at(p_.a_scales, a);
    });
    TW_UNROLL
    for (int i = 0; i < reads; ++i) next_b_[i] = b_line_[i].at(p_.b_scales, b);
    ++k_block_;
  }

  /// Makes the scales of the K block that was read last those of add(), and reads the next ones
  /// where there is a next block.
  TW_DEVICE void next(bool more) {
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int r = 0; r < accumulator_map::rows; ++r) a_[f][r] = next_a_[f][r];
    });
    if constexpr (few) {
      TW_UNROLL
      for (int i = 0; i < reads; ++i) b_[i] = next_b_[i];
    } else {
      // The other half is what the warpgroup reads until this barrier.
      half_ ^= 1;
      TW_UNROLL
      for (int i = 0; i < reads; ++i) {
        int const c = thread_id() % warpgroup_threads + i * warpgroup_threads;
        if (c < C.tile_n) shared_.of[half_][c / 2].of[c % 2] = next_b_[i];
      }
      named_barrier_sync(barrier_, warpgroup_threads);
    }
    if (more) read();
  }

  /// Elements of `to`, from `first` on, += from, times the scales: columns of the tile from
  /// 2 * first on.
  template <class Fragments, class Parts>
  TW_DEVICE void add(Fragments& to, Parts& from, int first) const {
    constexpr int size = std::remove_reference_t<decltype(from[0])>::size;
    if constexpr (few) {
      unrolled<fragments>([&](auto f) {
        float scale[accumulator_map::rows][reads];
        TW_UNROLL
        for (int r = 0; r < accumulator_map::rows; ++r) {
          TW_UNROLL
          for (int i = 0; i < reads; ++i) scale[r][i] = a_[f][r] * b_[i];
        }
        TW_UNROLL
        for (int i = 0; i < size; ++i) {
          int const r = accumulator_map::row_index(i), col = 2 * first + 8 * (i / 4);
          float const factor = one || col < second_from_ ? scale[r][0] : scale[r][reads - 1];
          to[f][first + i] = fmaf(factor, from[f][i], to[f][first + i]);
        }
      });
    } else {
      int const mine = accumulator_map::col_of(lane_id()) / 2;
      TW_UNROLL
      for (int g = 0; g < size / 4; ++g) {
        auto const b = shared_.of[half_][first + 4 * g + mine];
        unrolled<fragments>([&](auto f) {
          TW_UNROLL
          for (int i = 4 * g; i < 4 * g + 4; ++i)
            to[f][first + i] = fmaf(a_[f][accumulator_map::row_index(i)] * b.of[i % 2], from[f][i],
                                    to[f][first + i]);
        });
      }
    }
  }

 private:
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
  column_scales<C>& shared_;
  int const barrier_;
  int k_block_;
  int half_ = 0;         // of `shared_`
  int second_from_ = 0;  // few: from this column of the tile on the second scale holds
  scale_line a_line_[fragments][accumulator_map::rows], b_line_[reads];
  float next_a_[fragments][accumulator_map::rows], next_b_[reads];
  float a_[fragments][accumulator_map::rows], b_[reads];
};

/// Has a tile one or two scales of B?
TW_DEVICE bool has_few_scales(gemm_params const& p) {
  return p.b_scales.data == nullptr || p.b_scales.outer_log2 >= few_scales_log2;
}

}  // namespace tw
