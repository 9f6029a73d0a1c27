// SPDX-License-Identifier: Apache-2.0
// operand.hpp  Where the 16-byte chunks of a wgmma operand lie in shared memory.
//
// One step takes 32 bytes of K from an operand, 16 elements of 16 bits. A chunk of 16 bytes holds
// T elements along the contiguous index, 8 of 16 bits:
//   K-major:  chunk (mn, j) holds k = T j..T j + T - 1 of row mn
//   MN-major: chunk (k, j)  holds mn = T j..T j + T - 1 of k
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout", Canonical Layouts;
// CuTe's descriptors of SM100 for atoms of 32 bytes, which only tcgen05 has: PTX ISA has pictures.
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
  std::uint32_t start, row, row_group, columns, column_group, rows_of_atom;
  swizzle_mode swizzle;

  operand_layout(smem_desc d, operand_major major)
      : start(d.address()),
        row(static_cast<std::uint32_t>(swizzle_span_bytes(d.swizzle()))),
        row_group(d.stride_bytes()),
        columns(row / 16),
        column_group(d.leading_bytes()),
        rows_of_atom(d.swizzle() == swizzle_mode::b128_base32 ? 4 : 8),
        swizzle(d.swizzle()) {
    if (major == operand_major::mn && swizzle == swizzle_mode::none) {
      row_group = d.leading_bytes();  // the two offsets change their roles here
      column_group = d.stride_bytes();
    }
    if (major == operand_major::k && swizzle != swizzle_mode::none) columns = 2;
  }

  std::uint32_t row_offset(std::uint32_t i) const {
    return i % rows_of_atom * row + i / rows_of_atom * row_group;
  }
  std::uint32_t column_offset(std::uint32_t i) const {
    return i % columns * 16 + i / columns * column_group;
  }
};

/// An operand of `extent` rows along M or N, whose elements have `element_bytes` bytes.
struct operand_extent {
  operand_major major;
  int rows, element_bytes = 2;
};

/// Rows and columns of chunks that one step reads from an operand.
struct chunk_grid {
  int rows, columns;
  chunk_grid(operand_extent const& x)
      : rows(x.major == operand_major::k ? x.rows : 32 / x.element_bytes),
        columns(x.major == operand_major::k ? 2 : x.rows * x.element_bytes / 16) {}
};

/// The fault of an operand, or nothing: reserved bits and base offset zero, and every chunk
/// in [smem_base, smem_base + smem_bytes).
std::optional<std::string> check_operand(char name, smem_desc d, operand_extent const& extent,
                                         std::uint32_t smem_base, std::uint32_t smem_bytes);

}  // namespace tw::emu
