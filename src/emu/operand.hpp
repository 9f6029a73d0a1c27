// SPDX-License-Identifier: Apache-2.0
// operand.hpp  Where the 16-byte chunks of a wgmma operand lie in shared memory.
//
// One step takes 16 of K from an operand. A chunk holds 8 elements along the contiguous index:
//   K-major:  chunk (mn, j) holds k = 8j..8j+7 of row mn
//   MN-major: chunk (k, j)  holds mn = 8j..8j+7 of k
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout", Canonical Layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/arch/types.hpp"

namespace tw::emu {

/// The canonical layout of a descriptor: chunk (row, column) of an operand lies at
/// swizzled(start + row_offset(row) + column_offset(column)).
struct operand_layout {
  std::uint32_t start, row, row_group, columns, column_group;
  swizzle_mode swizzle;

  operand_layout(smem_desc d, operand_major major)
      : start(d.address()),
        row(static_cast<std::uint32_t>(swizzle_span_bytes(d.swizzle()))),
        row_group(d.stride_bytes()),
        columns(row / 16),
        column_group(d.leading_bytes()),
        swizzle(d.swizzle()) {
    if (major == operand_major::mn && swizzle == swizzle_mode::none) {
      row_group = d.leading_bytes();  // the two offsets change their roles here
      column_group = d.stride_bytes();
    }
    if (major == operand_major::k && swizzle != swizzle_mode::none) columns = 2;
  }

  std::uint32_t row_offset(std::uint32_t i) const { return i % 8 * row + i / 8 * row_group; }
  std::uint32_t column_offset(std::uint32_t i) const {
    return i % columns * 16 + i / columns * column_group;
  }
};

/// Rows and columns of chunks that one step reads from an operand of `extent` rows along M or N.
struct chunk_grid {
  int rows, columns;
  chunk_grid(operand_major major, int extent)
      : rows(major == operand_major::k ? extent : 16),
        columns(major == operand_major::k ? 2 : extent / 8) {}
};

/// The fault of an operand, or nothing: reserved bits and base offset zero, and every chunk
/// in [smem_base, smem_base + smem_bytes).
std::optional<std::string> check_operand(char name, smem_desc d, operand_major major, int extent,
                                         std::uint32_t smem_base, std::uint32_t smem_bytes);

}  // namespace tw::emu
