// SPDX-License-Identifier: Apache-2.0
// ordered_rows.hpp  A launch before a GEMM of groups: it copies the rows of A that an index array
//                   names, and their scales, in the order of the groups. The GEMM reads the copy
//                   and gathers nothing (docs/decisions/0089).
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/epilogue/group_rows.hpp"
#include "tilewright/kernel/moe/copy_row.hpp"
#include "tilewright/pipeline/group_table.hpp"

namespace tw {

/// A copy of rows of A. If groups divide columns, "row" is a column of B, which is contiguous.
struct ordered_rows_params {
  group_sizes sizes;
  group_operands group;  // gather, choices, gather_from and status
  void const* from;
  void* to;                           // nullptr: no copy wanted
  std::int64_t from_pitch, to_pitch;  // bytes
  std::int64_t row_bytes;
  int elem_bytes;
  /// `blocks` scales for each row, (row, block) at row * stride_row + block * stride_k. In the copy
  /// scales of neighbouring rows are adjacent, and `to_stride_k` apart along K. Strides in scales.
  void const* scales_from;
  void* scales_to;
  std::int64_t scale_stride_row, scale_stride_k, scale_to_stride_k;
  int blocks, scale_bytes;  // blocks 0: no scales
  int ctas;
};

struct copy_rows_in_order {
  using params = ordered_rows_params;
  static constexpr int threads = 256, cluster = 1;
  static constexpr int warps = threads / warp_threads;
  static constexpr int rows = warps;  // that a CTA copies at a time, each warp one

  struct smem {
    group_table table;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_HD static constexpr int ctas(params const& p) { return p.ctas; }

  /// In a grid of ctas(p) CTAs, any number.
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    // The launch before may write rows and sizes, or read the copies.
    if constexpr (dependent_launches()) grid_dependency_wait();
    // The GEMM reports sizes that are not possible.
    if (warp_id() == 0) fill_group_table(p.sizes, rows, 1, false, s.table);
    cta_sync();
    int const warp = warp_id();
    group_tiles tiles(s.table, p.sizes, cta_id());
    group_segment part;
    while (tiles.next(work_plan{}, p.ctas, part)) {
      int const row = part.tile * rows + warp;  // of the group
      if (row < part.size) copy(p, part.begin + row);
    }
  }

 private:
  /// Row i of the copy.
  TW_DEVICE static void copy(params const& p, int i) {
    int const row = gathered_row(p.group, i);
    auto* const to = static_cast<std::byte*>(p.to) + i * p.to_pitch;
    if (row < 0) {
      if (lane_id() == 0) report_index(p.group, i);
      for (std::int64_t b = lane_id(); b < p.row_bytes; b += warp_threads) to[b] = std::byte{0};
    } else {
      copy_row(to, static_cast<std::byte const*>(p.from) + row * p.from_pitch, p.row_bytes,
               p.elem_bytes);
    }
    if (p.scale_bytes == 4)
      copy_scales<words::b32>(p, i, row);
    else
      copy_scales<words::b8>(p, i, row);
  }
  template <class Word>
  TW_DEVICE static void copy_scales(params const& p, int i, int row) {
    auto const* const from = static_cast<Word const*>(p.scales_from);
    auto* const to = static_cast<Word*>(p.scales_to);
    for (int b = lane_id(); b < p.blocks; b += warp_threads)
      to[i + b * p.scale_to_stride_k] =
          row < 0 ? Word{0} : from[row * p.scale_stride_row + b * p.scale_stride_k];
  }
};

}  // namespace tw
