// SPDX-License-Identifier: Apache-2.0
// product.cpp  Checks the steps of a wgmma group, brings their operands into linear order, and
// hands
//              panels of up to 24 columns to the version for this processor.
#include "emu/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "emu/operand.hpp"
#include "emu/product_isa.hpp"

namespace tw::emu {

namespace {

std::optional<std::string> check(wgmma_group_shape const& shape, wgmma_step_data const* steps,
                                 int count, std::uint32_t smem_base, std::uint32_t smem_bytes) {
  if (shape.type != elem::bf16 && shape.type != elem::f16)
    return fmt::format("element type {}; this product takes bf16 and f16", name(shape.type));
  if (shape.n < 8 || shape.n > 256 || shape.n % 8 != 0)
    return fmt::format("n = {}; it must be a multiple of 8 from 8 to 256", shape.n);
  for (int i = 0; i < count; ++i) {
    if (!steps[i].a_in_registers)
      if (auto wrong = check_operand('A', steps[i].a, shape.a_major, 64, smem_base, smem_bytes))
        return wrong;
    if (auto wrong = check_operand('B', steps[i].b, shape.b_major, shape.n, smem_base, smem_bytes))
      return wrong;
  }
  return std::nullopt;
}

/// Emulated shared memory by its addresses.
struct memory {
  std::byte const* first;
  std::uint32_t base;  // address of *first
  std::byte const* at(std::uint32_t address) const {
    return first + (static_cast<std::ptrdiff_t>(address) - static_cast<std::ptrdiff_t>(base));
  }
};

/// The chunks of an operand in several steps that differ in their start alone, as one table: chunk
/// (r, c) lies at row[r] + column[c] before the swizzle. Steps follow each other along K, that is
/// along the columns of a K-major operand and the rows of an MN-major one.
struct chunk_table {
  std::uint32_t row[256], column[32];
  int rows, columns;
  std::uint32_t swizzle_mask;  // of bits 7-9, moved to 4-6
  bool one_exchange_per_row;   // the swizzle xors all chunks of a row with the same value

  chunk_table(wgmma_step_data const* steps, smem_desc wgmma_step_data::*operand,
              operand_major major, int extent, int count) {
    operand_layout const layout(steps->*operand, major);
    chunk_grid const grid(major, extent);
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
};

/// The 16-bit elements of chunks [row_begin, row_end) x [column_begin, column_end): chunk (r, c)
/// goes to out[(r - row_begin) * pitch + 8 * (c - column_begin)].
void linearise(std::uint16_t* out, int pitch, chunk_table const& table, int row_begin, int row_end,
               int column_begin, int column_end, memory smem) {
  for (int r = row_begin; r < row_end; ++r, out += pitch) {
    std::uint32_t const row = table.row[r];
    std::uint16_t* to = out;
    if (table.one_exchange_per_row) {
      std::uint32_t const exchange = row >> 3 & table.swizzle_mask;
      for (int c = column_begin; c < column_end; ++c, to += 8)
        std::memcpy(to, smem.at((row + table.column[c]) ^ exchange), 16);
      continue;
    }
    for (int c = column_begin; c < column_end; ++c, to += 8) {
      std::uint32_t const plain = row + table.column[c];
      std::memcpy(to, smem.at(plain ^ (plain >> 3 & table.swizzle_mask)), 16);
    }
  }
}

/// A's register fragment: register r of thread t holds row 16*(t/32) + t%32/4 + 8*(r%2) at
/// k = 2*(t%4) + 8*(r/2) and the next (PTX ISA, "Register Fragments").
void linearise_fragment(std::uint16_t* out, int pitch, std::uint32_t const* regs) {
  for (int t = 0; t < 128; ++t)
    for (int r = 0; r < 4; ++r) {
      int const row = 16 * (t / 32) + t % 32 / 4 + 8 * (r % 2);
      std::memcpy(out + row * pitch + 2 * (t % 4) + 8 * (r / 2), regs + 4 * t + r, 4);
    }
}

std::atomic<product_isa> selected{product_isa::automatic};

product_version const& version() {
  static product_version const* const best = [] {
    for (product_isa const isa : {product_isa::avx512, product_isa::avx2})
      if (product_version const* v = vector_product(isa)) return v;
    return &product_portable;
  }();
  product_isa const wanted = selected.load(std::memory_order_relaxed);
  if (wanted == product_isa::automatic) return *best;
  product_version const* const v = vector_product(wanted);
  return v != nullptr ? *v : product_portable;
}

/// Up to four steps that can be fused: one product with K up to 64.
void run_steps(float* d, wgmma_group_shape const& shape, wgmma_step_data const* steps, int count,
               memory smem) {
  product_version const& run = version();
  product_block block;
  block.type = shape.type;
  block.k = 16 * count;
  block.accumulate = steps[0].accumulate;

  alignas(64) std::uint16_t linear[64 * 64];
  bool const a_k_major = shape.a_major == operand_major::k || steps[0].a_in_registers;
  if (steps[0].a_in_registers) {
    for (int s = 0; s < count; ++s) linearise_fragment(linear + 16 * s, 64, steps[s].a_regs);
  } else {
    chunk_table const a(steps, &wgmma_step_data::a, shape.a_major, 64, count);
    linearise(linear, 64, a, 0, a.rows, 0, a.columns, smem);
  }
  run.widen_a(block, linear, a_k_major);

  bool const b_k_major = shape.b_major == operand_major::k;
  chunk_table const b(steps, &wgmma_step_data::b, shape.b_major, shape.n, count);
  for (int n = 0; n < shape.n; n += panel_columns) {
    int const columns = std::min(panel_columns, shape.n - n);
    if (b_k_major)
      linearise(linear, 64, b, n, n + columns, 0, b.columns, smem);
    else
      linearise(linear, panel_columns, b, 0, b.rows, n / 8, (n + columns) / 8, smem);
    run.multiply(block, d + 64 * n, columns, linear, b_k_major);
  }
}

/// True if step y can be computed together with its predecessor x as one product of larger K.
bool fuses(wgmma_step_data const& x, wgmma_step_data const& y) {
  auto const differ_in_start_alone = [](smem_desc p, smem_desc q) {
    return p.bits >> 14 == q.bits >> 14;
  };
  return y.accumulate && x.a_in_registers == y.a_in_registers &&
         (x.a_in_registers || differ_in_start_alone(x.a, y.a)) && differ_in_start_alone(x.b, y.b);
}

}  // namespace

bool product_isa_available(product_isa isa) {
  return isa == product_isa::portable || isa == product_isa::automatic ||
         vector_product(isa) != nullptr;
}

void select_product_isa(product_isa isa) { selected.store(isa, std::memory_order_relaxed); }

std::optional<std::string> run_wgmma_group(float* d, wgmma_group_shape const& shape,
                                           wgmma_step_data const* steps, int count,
                                           std::byte const* smem, std::uint32_t smem_base,
                                           std::uint32_t smem_bytes) {
  if (auto wrong = check(shape, steps, count, smem_base, smem_bytes)) return wrong;
  for (int first = 0; first < count;) {
    int last = first + 1;
    while (last < count && last < first + 4 && fuses(steps[last - 1], steps[last])) ++last;
    run_steps(d, shape, steps + first, last - first, {smem, smem_base});
    first = last;
  }
  return std::nullopt;
}

}  // namespace tw::emu
