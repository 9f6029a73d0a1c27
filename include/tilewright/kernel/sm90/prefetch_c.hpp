// SPDX-License-Identifier: Apache-2.0
// prefetch_c.hpp  C of a tile is brought to L2 while the main loop runs, so that the epilogue waits
//                 for L2 and not for DRAM.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/sm90/scheduler.hpp"

namespace tw {

/// The elements of C at a tile, as lines that are contiguous in memory.
struct c_lines {
  std::byte const* first;
  std::int64_t pitch;  // bytes from a line to the next
  int count, bytes;    // lines, and bytes of each; 0: C is contiguous along neither side
};

/// C at a tile of `rows` x `cols` whose first element is D(tile.row, tile.col).
/// \pre e.c.data is not nullptr
TW_HD inline c_lines c_lines_of(epilogue_params const& e, cta_tile const& tile, int rows,
                                int cols) {
  bool const by_rows = e.c.col_stride == 1;
  if (!by_rows && e.c.row_stride != 1) return {};
  int const size = wide_float_bytes(e.c.type);
  int const left_rows = e.m - tile.row < rows ? e.m - tile.row : rows;
  int const left_cols = e.n - tile.col < cols ? e.n - tile.col : cols;
  if (left_rows <= 0 || left_cols <= 0) return {};
  auto const* const matrix =
      e.c.matrices != nullptr
          ? static_cast<std::byte const*>(e.c.matrices[tile.matrix])
          : static_cast<std::byte const*>(e.c.data) + tile.matrix * e.c.batch_stride * size;
  return {matrix + (tile.row * e.c.row_stride + tile.col * e.c.col_stride) * size,
          (by_rows ? e.c.row_stride : e.c.col_stride) * size, by_rows ? left_rows : left_cols,
          (by_rows ? left_cols : left_rows) * size};
}

/// `threads` threads, of which this is number `thread`, prefetch C at a tile: a byte of every 128
/// of a line, from the line's first one on.
/// \pre e.c.data is not nullptr
TW_DEVICE void prefetch_c(epilogue_params const& e, cta_tile const& tile, int rows, int cols,
                          int thread, int threads) {
  constexpr int l2_line = 128;  // bytes
  c_lines const lines = c_lines_of(e, tile, rows, cols);
  int const pieces = (lines.bytes + l2_line - 1) / l2_line;  // of a line
  TW_NO_UNROLL
  for (int i = thread; i < lines.count * pieces; i += threads)
    prefetch_l2(lines.first + i / pieces * lines.pitch + i % pieces * l2_line);
}

}  // namespace tw
