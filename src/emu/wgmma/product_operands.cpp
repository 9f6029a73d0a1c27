// SPDX-License-Identifier: Apache-2.0
// product_operands.cpp  Finds and copies the chunks of operands in shared memory and registers.
#include "emu/wgmma/product_operands.hpp"

#include <algorithm>
#include <cstring>

namespace tw::emu {

chunk_table::chunk_table(wgmma_step_data const* steps, smem_desc wgmma_step_data::*operand,
                         operand_major major, int extent, int count) {
  operand_layout const layout(steps->*operand, major);
  chunk_grid const grid({major, extent});
  bool const k_major = major == operand_major::k;
  rows = grid.rows * (k_major ? 1 : count);
  columns = grid.columns * (k_major ? count : 1);
  std::uint32_t row_bits = 0, column_bits = 0, column_low = 0;
  for (int r = 0; r < rows; ++r) {
    int const in_step = k_major ? r : r % 16;
    std::uint32_t const start = k_major ? 0 : (steps[r / 16].*operand).address();
    row[r] = start + layout.row_offset(static_cast<std::uint32_t>(in_step));
    row_bits |= row[r];
  }
  for (int c = 0; c < columns; ++c) {
    int const in_step = k_major ? c % 2 : c;
    std::uint32_t const start = k_major ? (steps[c / 2].*operand).address() : 0;
    column[c] = start + layout.column_offset(static_cast<std::uint32_t>(in_step));
    column_bits |= column[c];
    column_low = std::max(column_low, column[c] % 128);
  }
  swizzle_mask = static_cast<std::uint32_t>(swizzle_span_bytes(layout.swizzle)) - 16;
  one_exchange_per_row = (column_bits & 0x380) == 0 && row_bits % 128 + column_low < 128;
}

void linearise(void* out, int pitch_bytes, chunk_table const& table, chunk_range at, memory smem) {
  auto* to_row = static_cast<std::byte*>(out);
  for (int r = at.row_begin; r < at.row_end; ++r, to_row += pitch_bytes) {
    std::uint32_t const row = table.row[r];
    std::byte* to = to_row;
    if (table.one_exchange_per_row) {
      std::uint32_t const exchange = row >> 3 & table.swizzle_mask;
      for (int c = at.column_begin; c < at.column_end; ++c, to += 16)
        std::memcpy(to, smem.at((row + table.column[c]) ^ exchange), 16);
      continue;
    }
    for (int c = at.column_begin; c < at.column_end; ++c, to += 16) {
      std::uint32_t const plain = row + table.column[c];
      std::memcpy(to, smem.at(plain ^ (plain >> 3 & table.swizzle_mask)), 16);
    }
  }
}

void linearise_fragment(void* out, int pitch_bytes, std::uint32_t const* regs) {
  auto* const to = static_cast<std::byte*>(out);
  for (int t = 0; t < 128; ++t)
    for (int r = 0; r < 4; ++r) {
      int const row = 16 * (t / 32) + t % 32 / 4 + 8 * (r % 2);
      std::memcpy(to + row * pitch_bytes + 4 * (t % 4) + 16 * (r / 2), regs + 4 * t + r, 4);
    }
}

bool fuses(wgmma_step_data const& x, wgmma_step_data const& y) {
  auto const differ_in_start_alone = [](smem_desc p, smem_desc q) {
    return p.bits >> 14 == q.bits >> 14;
  };
  return y.accumulate && x.a_in_registers == y.a_in_registers &&
         (x.a_in_registers || differ_in_start_alone(x.a, y.a)) && differ_in_start_alone(x.b, y.b);
}

}  // namespace tw::emu
