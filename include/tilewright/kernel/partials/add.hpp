// SPDX-License-Identifier: Apache-2.0
// add.hpp  Adds the partial results of a GEMM whose K is split over ranks, in the order of the
//          ranks, and applies the epilogue to the sum. The bits do not depend on the order in which
//          the partial results arrived.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/epilogue/formula.hpp"
#include "tilewright/kernel/epilogue/load_as_float.hpp"

namespace tw {

/// A matrix of any order: element (i, j) is i * row_stride + j * col_stride elements from `data`.
struct strided_matrix {
  void* data;
  std::int64_t row_stride, col_stride;
  elem type;
};

/// (rows, cols) partial results, row-major, `count` of them.
struct add_partials_params {
  void const* parts;
  std::int64_t part_stride, pitch;  // elements: from a partial result to the next, between rows
  int count, rows, cols;
  elem type;         // of partial results: f32, bf16, f16 or s32
  strided_matrix d;  // (rows, cols), or (rows, cols / 2) with a gate
  strided_matrix aux;
  /// alpha, beta, C, and in `fused` the vectors, activation and gate; nothing else of it is read.
  epilogue_params epilogue;
  bool gated;
};

/// A CTA has a row, a thread an element of D at a time.
struct add_partials_kernel {
  using params = add_partials_params;
  static constexpr int threads = 256, cluster = 1, smem_bytes = 0;

  TW_HD static constexpr int ctas(params const& p) { return p.rows; }

  TW_DEVICE static void run(params const& p) {
    if constexpr (dependent_launches()) {
      grid_dependents_launch();
      grid_dependency_wait();
    }
    int const row = cta_id();
    fused_params const& f = p.epilogue.fused;
    int const d_cols = p.gated ? p.cols / 2 : p.cols;
    for (int col = thread_id(); col < d_cols; col += threads) {
      if (p.d.type == elem::s32) {  // the sum itself
        static_cast<words::b32*>(p.d.data)[place(p.d, row, col)] = integer_sum(p, row, col);
        continue;
      }
      float y = 0;
      if (!p.gated) {
        float const x = linear(p, row, col);
        with_activation<false>(f.act, [&](auto act) { y = act(x); });
      } else {
        float const gate = linear(p, row, col * f.gate_step);
        float const up = linear(p, row, col * f.gate_step + f.up_offset);
        with_activation<true>(f.act, [&](auto act) { y = act(gate) * act.up(up); });
      }
      if (f.c_last) y = with_c(p, row, col, y);
      store(p.d, row, col, y);
    }
  }

 private:
  TW_DEVICE static std::int64_t place(strided_matrix const& m, int row, int col) {
    return row * m.row_stride + col * m.col_stride;
  }

  /// Modulo 2^32, in two's complement.
  TW_DEVICE static std::uint32_t integer_sum(params const& p, int row, int col) {
    std::uint32_t sum = 0;
    for (int i = 0; i < p.count; ++i)
      sum += static_cast<words::b32 const*>(p.parts)[i * p.part_stride + row * p.pitch + col];
    return sum;
  }

  TW_DEVICE static float sum_of(params const& p, int row, int col) {
    if (p.type == elem::s32)
      return static_cast<float>(static_cast<std::int32_t>(integer_sum(p, row, col)));
    float sum = 0;
    for (int i = 0; i < p.count; ++i)
      sum += load_as_float(p.parts, p.type, i * p.part_stride + row * p.pitch + col);
    return sum;
  }

  /// x of the epilogue (problem/epilogue.hpp), which is also the auxiliary output.
  TW_DEVICE static float linear(params const& p, int row, int col) {
    epilogue_params const& e = p.epilogue;
    fused_params const& f = e.fused;
    float const sum = sum_of(p, row, col);
    float x = 0;
    float const bias =
        f.bias == nullptr ? 0.0F : load_as_float(f.bias, f.bias_type, f.bias_rows ? row : col);
    if (bias_takes_alpha(e)) {
      x = fmaf(e.alpha, sum, bias);
    } else {
      x = times_alpha(e.alpha, sum);
      if (f.row_scale != nullptr) x *= f.row_scale[row * f.row_scale_step];
      if (f.col_scale != nullptr) x *= f.col_scale[col * f.col_scale_step];
      if (f.bias != nullptr) x += bias;
      if (!f.c_last) x = with_c(p, row, col, x);
    }
    if (p.aux.data != nullptr) store(p.aux, row, col, x);
    return x;
  }

  TW_DEVICE static float with_c(params const& p, int row, int col, float x) {
    c_view const& c = p.epilogue.c;
    if (c.data == nullptr) return x;
    return fmaf(p.epilogue.beta,
                load_as_float(c.data, c.type, row * c.row_stride + col * c.col_stride), x);
  }

  TW_DEVICE static void store(strided_matrix const& m, int row, int col, float x) {
    std::int64_t const at = place(m, row, col);
    switch (m.type) {
      case elem::f32: static_cast<words::f32*>(m.data)[at] = x; break;
      case elem::bf16: static_cast<words::b16*>(m.data)[at] = to_bf16(x).bits; break;
      case elem::f16: static_cast<words::b16*>(m.data)[at] = to_f16(x).bits; break;
      case elem::e4m3:
        static_cast<words::b8*>(m.data)[at] = to_e4m3(x, saturation::finite).bits;
        break;
      default: static_cast<words::b8*>(m.data)[at] = to_e5m2(x, saturation::finite).bits;
    }
  }
};

}  // namespace tw
