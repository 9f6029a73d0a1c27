// SPDX-License-Identifier: Apache-2.0
// params.hpp  Parameters of a GEMM launch: tensor maps, the raster order, the parts of tiles. The
//             same bytes for both backends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/arch/types.hpp"
#include "tilewright/kernel/epilogue/params.hpp"
#include "tilewright/kernel/l2_hints.hpp"
#include "tilewright/kernel/operand_scales.hpp"
#include "tilewright/pipeline/group_table.hpp"
#include "tilewright/pipeline/order.hpp"
#include "tilewright/pipeline/work.hpp"

namespace tw {

/// Of `max` lines, those inside a matrix that ends `left` lines after the first of them.
TW_HD constexpr int lines_inside(int left, int max) {
  return left <= 0 ? 0 : left < max ? left : max;
}

/// Global memory in which the parts of a split-K tile are reduced (kernel/sm90/fixup.hpp).
struct fixup_params {
  float* partials;
  std::uint32_t* arrivals;  // zero before a launch and after it
  int counters;             // per tile, CTA and warpgroup
};

/// Groups, of kernels with gemm_config::ragged.
struct group_params {
  group_sizes sizes;
  int across;        // m, n: cluster tiles along the other extent of D
  int band;          // m, n: cluster tiles along the ragged extent that follow each other
  int slot_rows;     // slots: rows of D from a slot to the next; 0: groups follow each other
  int scale_blocks;  // k: K blocks that have scales
  void const *a_data, *b_data;                    // k, gather: A and B
  std::int64_t a_step, b_step;                    // k: bytes from an element of K to the next
  std::int64_t a_pitch, b_pitch, gathered_bytes;  // gather: of the lines, and of K of a line
};

/// Prepared weights: their blocks, in rows of blocks for each matrix.
struct weight_params {
  std::byte const* blocks;
  int row_blocks, k_blocks;
};

/// The members that the producer reads before its first load come first and together: each line of
/// the constant cache takes a quarter of a microsecond to come.
struct gemm_params {
  work_plan work;
  tile_walk walk;            // through the cluster tiles
  int a_batched, b_batched;  // 1: a matrix for each batch index, along the map; 0: one place in it
  l2_load a_l2, b_l2;        // L2 eviction priority of loads of A and B
  int by_pointers;           // 1: the maps of A and B end in a tma_place, or (batch, 0), for batch
  void const* const* a_matrices;  // of each batch index, in global memory; nullptr: by a_batched
  void const* const* b_matrices;
  int m, n;                   // rows of A, columns of B; with a gate n counts gate and up columns
  int tile_cols;              // of a tile where a kernel narrows
  tensor_map a, b;            // (k, mn, batch) or (mn, k, batch), boxes of operand_tile
  tensor_map a_edge, b_edge;  // K-major: boxes of the in-bounds part of the last tile
  epilogue_params epilogue;
  fixup_params fixup;
  operand_scales a_scales, b_scales;  // for kernels with gemm_config::scaled()
  int a_scales_by_bulk;   // 1: bulk copies load the scales of A (family/operand_scales.hpp)
  group_params group;     // for kernels with gemm_config::grouped()
  weight_params weights;  // for kernels with gemm_config::weights: A
  tensor_map c;           // for kernels with gemm_config::loads_c(): (n, m, batch), in boxes of D
};

}  // namespace tw
