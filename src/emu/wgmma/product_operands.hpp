// SPDX-License-Identifier: Apache-2.0
// product_operands.hpp  Operands of consecutive wgmma steps in linear order.
//
// An operand consists of chunks of 16 bytes (operand.hpp). Steps whose descriptors differ in their
// start alone form one operand of larger K: a table says where its chunks lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emu/elements/operand.hpp"
#include "emu/wgmma/product.hpp"

namespace tw::emu {

/// Emulated shared memory by its addresses.
struct memory {
  std::byte const* first;
  std::uint32_t base;  // address of *first
  std::byte const* at(std::uint32_t address) const {
    return first + (static_cast<std::ptrdiff_t>(address) - static_cast<std::ptrdiff_t>(base));
  }
};

/// The chunks of an operand in up to four steps: chunk (r, c) lies at row[r] + column[c] before the
/// swizzle. Steps follow each other along K, that is along the columns of a K-major operand and the
/// rows of an MN-major one.
struct chunk_table {
  std::uint32_t row[256], column[32];
  int rows, columns;
  std::uint32_t swizzle_mask;  // of bits 7-9, moved to 4-6
  bool one_exchange_per_row;   // the swizzle xors all chunks of a row with the same value

  chunk_table(wgmma_step_data const* steps, smem_desc wgmma_step_data::*operand,
              operand_major major, int extent, int count);
};

/// The range [row_begin, row_end) x [column_begin, column_end) of a table's chunks.
struct chunk_range {
  int row_begin, row_end, column_begin, column_end;
};

/// Chunk (r, c) of the range goes to out[(r - row_begin) * pitch_bytes + 16 * (c - column_begin)].
void linearise(void* out, int pitch_bytes, chunk_table const& table, chunk_range at, memory smem);

/// A's register fragment: register r of thread t holds bytes 4*(t%4) + 16*(r/2) and the next three
/// of row 16*(t/32) + t%32/4 + 8*(r%2), of the step's 32 bytes of K (PTX ISA, "Register
/// Fragments").
void linearise_fragment(void* out, int pitch_bytes, std::uint32_t const* regs);

/// True if step y can be computed together with its predecessor x as one step of larger K.
bool fuses(wgmma_step_data const& x, wgmma_step_data const& y);

}  // namespace tw::emu
