// SPDX-License-Identifier: Apache-2.0
// umma_product.cpp  The arithmetic of tcgen05.mma for one CTA.
//
// Types that wgmma multiplies too, with a float32 accumulator, run as wgmma groups of 64 rows, in
// place where the rows are neighbours in tensor memory. Everything else is computed element by
// element.
#include <cmath>
#include <cstring>

#include "emu/elements/operand.hpp"
#include "emu/umma/umma.hpp"
#include "emu/umma/umma_element.hpp"
#include "emu/wgmma/product.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::emu {

namespace {

constexpr int rows_of_block = 64;

float* floats(std::uint32_t* words) { return reinterpret_cast<float*>(words); }

/// Bytes from the first rows of a descriptor of A to its rows 64 and on.
int next_rows(smem_desc d, operand_major major) {
  operand_layout const l(d, major);
  return static_cast<int>(major == operand_major::k ? l.row_offset(rows_of_block)
                                                    : l.column_offset(rows_of_block / 8));
}

struct part {
  float* d;  // 64 rows by `columns`, column-major
  int row, column, columns;
  std::byte const* b;
};

void run_block(part const& p, umma_shape const& s, umma_call const* const* calls, int count,
               umma_memory const& smem) {
  wgmma_step_data steps[8];
  for (int i = 0; i < count; ++i) {
    smem_desc const a = as_wgmma_desc(calls[i]->a);
    smem_desc const b = as_wgmma_desc(calls[i]->b);
    steps[i] = {false, nullptr, a + p.row / rows_of_block * next_rows(a, s.a_major), b,
                calls[i]->accumulate};
  }
  run_wgmma_group(p.d, {s.a, s.b, s.d, integer_overflow::wrap, s.a_major, s.b_major, p.columns},
                  steps, count, smem.own, smem.base, smem.bytes, sum_mode::fast, p.b);
}

/// The pieces of D of 64 rows and one CTA's columns of B.
void run_blocks(tensor_memory& t, umma_shape const& s, umma_call const* const* calls, int count,
                umma_memory const& smem) {
  int const lane = static_cast<int>(calls[0]->d >> 16);
  int const column = static_cast<int>(calls[0]->d & 0xFFFF);
  if (s.ctas == 1 && s.m == 64) {
    alignas(64) static thread_local float d[rows_of_block * 256];
    for (int n = 0; n < s.n; ++n)
      for (int r = 0; r < rows_of_block; ++r)
        std::memcpy(&d[n * rows_of_block + r], &t.at(lane + lane_of_row(s, r), column + n), 4);
    run_block({d, 0, 0, s.n, smem.b[0]}, s, calls, count, smem);
    for (int n = 0; n < s.n; ++n)
      for (int r = 0; r < rows_of_block; ++r)
        std::memcpy(&t.at(lane + lane_of_row(s, r), column + n), &d[n * rows_of_block + r], 4);
    return;
  }
  if (s.ctas == 2 && s.m == 128) {
    for (int h = 0; h < 2; ++h)
      run_block({floats(t.word[h][column]), 0, 0, s.n / 2, smem.b[h]}, s, calls, count, smem);
    return;
  }
  int const of_cta = s.columns_of_b();
  for (int h = 0; h < 2; ++h)
    for (int c = 0; c < s.ctas; ++c)
      run_block({floats(t.word[h][column + c * of_cta]), h * rows_of_block, 0, of_cta, smem.b[c]},
                s, calls, count, smem);
}

void run_elements(tensor_memory& t, umma_shape const& s, umma_call const& call,
                  umma_memory const& smem) {
  int const a_rows = rows_of_a(s, call);
  std::vector<float> a(static_cast<std::size_t>(a_rows * s.k)),
      b(static_cast<std::size_t>(s.n * s.k));
  for (int r = 0; r < a_rows; ++r)
    for (int k = 0; k < s.k; ++k) {
      float const x = umma_value(s.a, element_of_a(t, s, call, smem, r, k));
      a[static_cast<std::size_t>(r * s.k + k)] = s.negate_a ? -x : x;
    }
  for (int n = 0; n < s.n; ++n)
    for (int k = 0; k < s.k; ++k) {
      float const x = umma_value(s.b, element_of_b(s, call, smem, n, k));
      b[static_cast<std::size_t>(n * s.k + k)] = s.negate_b ? -x : x;
    }
  for (int r = 0; r < s.rows(); ++r)
    for (int n = 0; n < s.n; ++n) {
      float const* const x = &a[static_cast<std::size_t>(row_of_a(s, call, r, n) * s.k)];
      std::uint32_t& word = element_of_d(t, s, call, r, n);
      float sum = 0;
      if (call.accumulate)
        sum = holds_half_sums(s.d) ? to_float(f16{static_cast<std::uint16_t>(word)})
                                   : __builtin_bit_cast(float, word);
      for (int k = 0; k < s.k; ++k)
        sum = std::fma(x[k], b[static_cast<std::size_t>(n * s.k + k)], sum);
      if (holds_half_sums(s.d))
        word = to_f16(sum).bits;
      else
        word = std::isnan(sum) ? 0x7FFFFFFFU : __builtin_bit_cast(std::uint32_t, sum);
    }
}

}  // namespace

void run_umma(tensor_memory& t, umma_shape const& s, umma_call const* const* calls, int count,
              umma_memory const& smem, sum_mode mode) {
  if (mode == sum_mode::exact) {
    for (int i = 0; i < count; ++i) run_umma_exact(t, s, *calls[i], smem);
    return;
  }
  if (s.block != 0) {
    for (int i = 0; i < count; ++i) run_umma_scaled(t, s, *calls[i], smem);
    return;
  }
  // wgmma has MN-major operands of 16 bits alone.
  bool const other_mn_major =
      size_bits(s.a) != 16 && (s.a_major == operand_major::mn || s.b_major == operand_major::mn);
  bool const blocks = holds_float_sums(s.d) && has_wgmma(s.a, s.b, s.d) && !s.negate_a &&
                      !s.negate_b && !calls[0]->a_in_tmem && !other_mn_major;
  if (blocks) {
    run_blocks(t, s, calls, count, smem);
    return;
  }
  for (int i = 0; i < count; ++i) run_elements(t, s, *calls[i], smem);
}

}  // namespace tw::emu
