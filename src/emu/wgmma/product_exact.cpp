// SPDX-License-Identifier: Apache-2.0
// product_exact.cpp  Takes the operands of a step apart and adds by exact_sum.
#include "emu/wgmma/product_exact.hpp"

#include <cstring>

#include "emu/wgmma/exact_sum.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::emu {

namespace {

constexpr int max_k = 32;

/// The elements of an operand of one step: out[max_k * (row or column) + k].
void take_apart(operand_number* out, elem type, std::byte const* linear, bool k_major, int extent,
                int depth) {
  int const bytes = size_bytes(type);
  for (int i = 0; i < extent; ++i)
    for (int k = 0; k < depth; ++k) {
      int const at = k_major ? i * depth + k : k * extent + i;
      std::uint32_t bits = 0;
      std::memcpy(&bits, linear + at * bytes, static_cast<std::size_t>(bytes));
      out[max_k * i + k] = operand_number_of(type, bits);
    }
}

/// An operand in shared memory: 32 bytes of K for each row, or a row of `extent` for each k.
void take_apart(operand_number* out, elem type, wgmma_step_data const& step,
                smem_desc wgmma_step_data::*operand, operand_major major, int extent, int depth,
                memory smem) {
  alignas(16) std::byte linear[256 * 32];
  bool const k_major = major == operand_major::k;
  chunk_table const chunks(&step, operand, major, extent, 1);
  linearise(linear, k_major ? 32 : extent * size_bytes(type), chunks,
            {0, chunks.rows, 0, chunks.columns}, smem);
  take_apart(out, type, linear, k_major, extent, depth);
}

}  // namespace

void run_exact_step(void* d, wgmma_form const& form, wgmma_step_data const& step, memory smem_of_a,
                    memory smem_of_b) {
  operand_number a[64 * max_k], b[256 * max_k];
  int const depth = form.k();
  if (step.a_in_registers) {
    alignas(16) std::byte linear[64 * 32];
    linearise_fragment(linear, 32, step.a_regs);
    take_apart(a, form.a_type, linear, true, 64, depth);
  } else {
    take_apart(a, form.a_type, step, &wgmma_step_data::a, form.a_major, 64, depth, smem_of_a);
  }
  take_apart(b, form.b_type, step, &wgmma_step_data::b, form.b_major, form.n, depth, smem_of_b);

  auto* const words = static_cast<std::byte*>(d);
  bool const halves = holds_half_sums(form.sums);
  std::size_t const size = halves ? 2 : 4;
  for (int column = 0; column < form.n; ++column)
    for (int row = 0; row < 64; ++row) {
      // Two f16 in a word: columns 2c and 2c + 1.
      std::byte* const at = words + (halves ? 4 * (row + 64 * (column / 2)) + 2 * (column % 2)
                                            : 4 * (row + 64 * column));
      std::uint32_t c = 0;
      std::memcpy(&c, at, size);
      c = exact_sum(form, a + max_k * row, b + max_k * column, c, step.accumulate);
      std::memcpy(at, &c, size);
    }
}

}  // namespace tw::emu
