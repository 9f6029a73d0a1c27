// SPDX-License-Identifier: Apache-2.0
// stage_scales.hpp  Scales of A and B in the stages of the main loop: the sum of each K block is
//                   multiplied by scale_a(m) scale_b(n) when it is added (problem/scale_place.hpp).
//                   scale_copies.hpp fills the stages, block_scales.hpp reads them.
//
// B has scales in one of two forms, and each form has a main loop:
//
//   blocks   128 columns and more share a scale (128x128 blocks): a tile has one or two, with a
//            gate one for the gate columns and one for the up columns
//   columns  each column has another scale (1x128 blocks)
//
// A kernel whose fragments share an accumulator is compiled with one of the loops: with both of
// them ptxas spills.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/scale_at.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/params.hpp"

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

/// Threads that copy scales: the warps of the producer's warpgroup that do not load A and B, except
/// for the warp that passes gathered rows on.
template <gemm_config C>
inline constexpr int scale_threads = (C.gathers() ? 2 : 3) * warp_threads;

/// Has a tile one or two scales of B?
template <gemm_config C>
TW_DEVICE bool has_block_scales(gemm_params const& p) {
  if constexpr (C.in_turn()) return C.sums == sum_form::scaled;
  return !C.gated() && (p.b_scales.data == nullptr || p.b_scales.outer_log2 >= block_outer_log2);
}

/// Threads that copy the column scales if a bulk copy loads the row scales.
TW_DEVICE constexpr int column_threads(bool by_block) { return by_block ? 2 : 2 * warp_threads; }

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
  static_assert(sizeof(of_stage) == C.scale_bytes());
  /// How many threads arrive at the barrier of a stage besides the thread that loads A and B. By
  /// bulk copies: one thread for the scales of the rows, and column_threads. Else: all threads of
  /// the warps that copy scales.
  TW_DEVICE static int writers(gemm_params const& p) {
    return C.bulk_copies_scales() && p.a_scales_by_bulk != 0
               ? 1 + column_threads(has_block_scales<C>(p))
               : scale_threads<C>;
  }

  TW_DEVICE void init() {
    for (int i = 0; i < C.stages; ++i)
      scales_read[i].init(C.math_warpgroups() * warpgroup_threads / warp_threads);
  }
  /// A thread's signal, for all warps of its warpgroup, that they do not need the scales.
  TW_DEVICE void skip(int stage) {
    for (int warp = 0; warp < warps_of_warpgroup; ++warp) scales_read[stage].arrive();
  }
};

/// The column of the tile, counted from 0, at which the second scale of B begins. `col`: the first
/// column of the tile in D.
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

}  // namespace tw
