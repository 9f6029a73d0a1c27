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
  int count, bytes;    // lines, and bytes of each; 0: nothing can be prefetched
};

/// C at a tile of `rows` x `cols` whose first element is D(tile.row, tile.col). bulk_prefetch takes
/// whole units of 16 bytes at addresses that are multiples of 16: none if C lies otherwise.
/// \pre e.c.data is not nullptr
TW_HD inline c_lines c_lines_of(epilogue_params const& e, cta_tile const& tile, int rows,
                                int cols) {
  constexpr int unit = 16;
  bool const by_rows = e.c.col_stride == 1;
  if (!by_rows && e.c.row_stride != 1) return {};
  int const size = wide_float_bytes(e.c.type);
  int const left_rows = e.m - tile.row < rows ? e.m - tile.row : rows;
  int const left_cols = e.n - tile.col < cols ? e.n - tile.col : cols;
  auto const* const matrix =
      e.c.matrices != nullptr
          ? static_cast<std::byte const*>(e.c.matrices[tile.matrix])
          : static_cast<std::byte const*>(e.c.data) + tile.matrix * e.c.batch_stride * size;
  std::byte const* const first =
      matrix + (tile.row * e.c.row_stride + tile.col * e.c.col_stride) * size;
  std::int64_t const pitch = (by_rows ? e.c.row_stride : e.c.col_stride) * size;
  if (((reinterpret_cast<std::uintptr_t>(first) | static_cast<std::uintptr_t>(pitch)) % unit) != 0)
    return {};
  int const bytes = (by_rows ? left_cols : left_rows) * size / unit * unit;
  return {first, pitch, bytes > 0 ? (by_rows ? left_rows : left_cols) : 0, bytes};
}

/// One thread prefetches C at a tile, if there is a C.
TW_DEVICE void prefetch_c(epilogue_params const& e, cta_tile const& tile, int rows, int cols) {
  c_lines const lines = c_lines_of(e, tile, rows, cols);
  TW_NO_UNROLL
  for (int i = 0; i < lines.count; ++i) bulk_prefetch(lines.first + i * lines.pitch, lines.bytes);
}

}  // namespace tw
