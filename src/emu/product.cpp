// SPDX-License-Identifier: Apache-2.0
// product.cpp  Checks the steps of a wgmma group, brings their operands into linear order, and hands
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

/// The 16-bit elements of an operand's chunks [row_begin, row_end) x [column_begin, column_end):
/// chunk (r, c) goes to out[(r - row_begin) * pitch + 8 * (c - column_begin)].
void linearise(std::uint16_t* out, int pitch, operand_layout const& layout, int row_begin,
               int row_end, int column_begin, int column_end, std::byte const* smem,
               std::uint32_t smem_base) {
  for (int r = row_begin; r < row_end; ++r, out += pitch)
    for (int c = column_begin; c < column_end; ++c)
      std::memcpy(out + 8 * (c - column_begin),
                  smem + (layout.at(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(c)) -
                          smem_base),
                  16);
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
  static product_version const* const best = product_isa_available(product_isa::avx512)
                                                 ? &product_avx512
                                             : product_isa_available(product_isa::avx2)
                                                 ? &product_avx2
                                                 : &product_portable;
  switch (selected.load(std::memory_order_relaxed)) {
    case product_isa::portable: return product_portable;
    case product_isa::avx2: return product_avx2;
    case product_isa::avx512: return product_avx512;
    case product_isa::automatic: break;
  }
  return *best;
}

/// Up to four successive steps that all but the first accumulate: one product with K up to 64.
void run_steps(float* d, wgmma_group_shape const& shape, wgmma_step_data const* steps, int count,
               std::byte const* smem, std::uint32_t smem_base) {
  product_version const& run = version();
  product_block block;
  block.type = shape.type;
  block.k = 16 * count;
  block.accumulate = steps[0].accumulate;
  bool const b_k_major = shape.b_major == operand_major::k;
  bool const a_k_major = shape.a_major == operand_major::k || steps[0].a_in_registers;

  alignas(64) std::uint16_t linear[64 * 64];
  for (int s = 0; s < count; ++s) {
    std::uint16_t* const out = linear + 16 * s * (a_k_major ? 1 : 64);
    if (steps[s].a_in_registers) {
      linearise_fragment(out, 64, steps[s].a_regs);
      continue;
    }
    chunk_grid const grid(shape.a_major, 64);
    linearise(out, 64, {steps[s].a, shape.a_major}, 0, grid.rows, 0, grid.columns, smem,
              smem_base);
  }
  run.widen_a(block, linear, a_k_major);

  for (int n = 0; n < shape.n; n += panel_columns) {
    int const columns = std::min(panel_columns, shape.n - n);
    for (int s = 0; s < count; ++s) {
      operand_layout const layout(steps[s].b, shape.b_major);
      if (b_k_major)
        linearise(linear + 16 * s, 64, layout, n, n + columns, 0, 2, smem, smem_base);
      else
        linearise(linear + 16 * s * panel_columns, panel_columns, layout, 0, 16, n / 8,
                  (n + columns) / 8, smem, smem_base);
    }
    run.multiply(block, d + 64 * n, columns, linear, b_k_major);
  }
}

}  // namespace

bool product_isa_available(product_isa isa) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (isa == product_isa::avx512)
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0;
  if (isa == product_isa::avx2)
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
           __builtin_cpu_supports("f16c") != 0;
#endif
  return isa == product_isa::portable || isa == product_isa::automatic;
}

void select_product_isa(product_isa isa) { selected.store(isa, std::memory_order_relaxed); }

std::optional<std::string> run_wgmma_group(float* d, wgmma_group_shape const& shape,
                                           wgmma_step_data const* steps, int count,
                                           std::byte const* smem, std::uint32_t smem_base,
                                           std::uint32_t smem_bytes) {
  if (auto wrong = check(shape, steps, count, smem_base, smem_bytes)) return wrong;
  for (int first = 0; first < count;) {
    int last = first + 1;
    while (last < count && last < first + 4 && steps[last].accumulate &&
           steps[last].a_in_registers == steps[first].a_in_registers)
      ++last;
    run_steps(d, shape, steps + first, last - first, smem, smem_base);
    first = last;
  }
  return std::nullopt;
}

}  // namespace tw::emu
