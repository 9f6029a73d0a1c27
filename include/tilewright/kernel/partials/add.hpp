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
  void const* own;  // nullptr: all are at `parts`; else where partial result `own_index` is
  int own_index;
  int count, rows, cols;
  elem type;         // of partial results: f32, bf16, f16 or s32
  strided_matrix d;  // (rows, cols), or (rows, cols / 2) with a gate
  strided_matrix aux;
  /// alpha, beta, C, and in `fused` the vectors, activation and gate; nothing else of it is read.
  epilogue_params epilogue;
  bool gated;
};

/// A CTA has a row, a thread an element of D at a time, or 8 adjacent ones.
struct add_partials_kernel {
  using params = add_partials_params;
  static constexpr int threads = 256, cluster = 1, smem_bytes = 0, ctas_per_sm = 4;
  static constexpr int wide = 8;  // columns

  TW_HD static constexpr int ctas(params const& p) { return p.rows; }

  /// Are partial results and D floats at multiples of 16 bytes in each row, without gate and
  /// auxiliary output? Then a thread takes 8 columns.
  TW_HD static bool takes_wide(params const& p) {
    auto const aligned = [](void const* at) {
      return reinterpret_cast<std::uintptr_t>(at) % 16 == 0;
    };
    return !p.gated && p.aux.data == nullptr && p.cols % wide == 0 && p.pitch % wide == 0 &&
           p.part_stride % wide == 0 && p.d.col_stride == 1 && p.d.row_stride % wide == 0 &&
           is_wide_float(p.type) && is_wide_float(p.d.type) && aligned(p.parts) && aligned(p.own) &&
           aligned(p.d.data);
  }

  TW_DEVICE static void run(params const& p) {
    if constexpr (dependent_launches()) {
      grid_dependents_launch();
      grid_dependency_wait();
    }
    int const row = cta_id();
    if (takes_wide(p)) {
      for (int col = thread_id() * wide; col < p.cols; col += threads * wide) add_wide(p, row, col);
      return;
    }
    int const d_cols = p.gated ? p.cols / 2 : p.cols;
    for (int col = thread_id(); col < d_cols; col += threads) add_one(p, row, col);
  }

  /// Columns [col, col + 8) of a row, as far as there are columns. No gate.
  TW_DEVICE static void add_eight(params const& p, int row, int col) {
    if (takes_wide(p)) {
      add_wide(p, row, col);
      return;
    }
    for (int i = col; i < p.cols && i < col + wide; ++i) add_one(p, row, i);
  }

 private:
  /// An element of D.
  TW_DEVICE static void add_one(params const& p, int row, int col) {
    fused_params const& f = p.epilogue.fused;
    if (p.d.type == elem::s32) {  // the sum itself
      static_cast<words::b32*>(p.d.data)[place(p.d, row, col)] = integer_sum(p, row, col);
      return;
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

  /// The partial result of rank i: its address, and the place of an element there.
  TW_DEVICE static void const* part(params const& p, int i) {
    return p.own != nullptr && i == p.own_index ? p.own : p.parts;
  }
  TW_DEVICE static std::int64_t place_in(params const& p, int i, int row, int col) {
    std::int64_t const in_part = row * p.pitch + col;
    return p.own != nullptr && i == p.own_index ? in_part : i * p.part_stride + in_part;
  }

  TW_DEVICE static std::int64_t place(strided_matrix const& m, int row, int col) {
    return row * m.row_stride + col * m.col_stride;
  }

  /// Modulo 2^32, in two's complement.
  TW_DEVICE static std::uint32_t integer_sum(params const& p, int row, int col) {
    std::uint32_t sum = 0;
    for (int i = 0; i < p.count; ++i)
      sum += static_cast<words::b32 const*>(part(p, i))[place_in(p, i, row, col)];
    return sum;
  }

  TW_DEVICE static float sum_of(params const& p, int row, int col) {
    if (p.type == elem::s32)
      return static_cast<float>(static_cast<std::int32_t>(integer_sum(p, row, col)));
    float sum = 0;
    for (int i = 0; i < p.count; ++i)
      sum += load_as_float(part(p, i), p.type, place_in(p, i, row, col));
    return sum;
  }

  /// 16 bytes that are loaded and stored at once.
  template <class T>
  struct alignas(16) four {
    T x[4];
  };

  /// Adds 8 elements of partial results of type Type, from `col`, in the order of the ranks. The
  /// loads of several partial results are in flight at once.
  template <elem Type>
  TW_DEVICE static void add_parts(params const& p, int row, int col, float (&sum)[wide]) {
    constexpr int words_of_part = wide * size_bytes(Type) / 16, at_once = 2 / words_of_part;
    std::int64_t const in_part = (row * p.pitch + col) * size_bytes(Type);
    std::int64_t const stride = p.part_stride * size_bytes(Type);
    auto const* from = static_cast<std::byte const*>(p.parts) + in_part;
    auto const* const own = static_cast<std::byte const*>(p.own) + in_part;
    int const own_index = p.own == nullptr ? -1 : p.own_index;
    TW_NO_UNROLL
    for (int i = 0; i < p.count; i += at_once) {
      b32<4> v[at_once][words_of_part];
      TW_UNROLL
      for (int j = 0; j < at_once; ++j, from += stride) {
        if (i + j >= p.count) continue;
        auto const* const at = i + j == own_index ? own : from;
        TW_UNROLL
        for (int w = 0; w < words_of_part; ++w) v[j][w] = load_16(at + 16 * w);
      }
      TW_UNROLL
      for (int j = 0; j < at_once; ++j)
        if (i + j < p.count) add_words<Type>(v[j], sum);
    }
  }
  template <elem Type, int Words>
  TW_DEVICE static void add_words(b32<4> const (&v)[Words], float (&sum)[wide]) {
    TW_UNROLL
    for (int j = 0; j < wide; ++j) {
      if constexpr (Type == elem::f32)
        sum[j] += float_of_bits(v[j / 4].r[j % 4]);
      else
        sum[j] += to_float<Type>(static_cast<std::uint16_t>(v[0].r[j / 2] >> 16 * (j % 2)));
    }
  }

  /// 8 elements of D from `col`. What is equal for all of them is decided once: a decision for each
  /// element costs twice the instructions (docs/decisions/0075).
  TW_DEVICE static void add_wide(params const& p, int row, int col) {
    fused_params const& f = p.epilogue.fused;
    float y[wide] = {};
    if (p.type == elem::f32)
      add_parts<elem::f32>(p, row, col, y);
    else if (p.type == elem::bf16)
      add_parts<elem::bf16>(p, row, col, y);
    else
      add_parts<elem::f16>(p, row, col, y);
    make_linear(p, row, col, y);
    with_activation<false>(f.act, [&](auto act) {
      TW_UNROLL
      for (int j = 0; j < wide; ++j) y[j] = act(y[j]);
    });
    if (f.c_last) add_c(p, row, col, y);
    std::int64_t const at = place(p.d, row, col);
    if (p.d.type == elem::f32) {
      auto* const to = static_cast<four<float>*>(p.d.data) + at / 4;
      TW_UNROLL
      for (int i = 0; i < 2; ++i) to[i] = {{y[4 * i], y[4 * i + 1], y[4 * i + 2], y[4 * i + 3]}};
      return;
    }
    four<std::uint32_t> v;
    TW_UNROLL
    for (int i = 0; i < 4; ++i)
      v.x[i] = p.d.type == elem::bf16 ? pack2<elem::bf16>(y[2 * i], y[2 * i + 1])
                                      : pack2<elem::f16>(y[2 * i], y[2 * i + 1]);
    static_cast<four<std::uint32_t>*>(p.d.data)[at / 8] = v;
  }

  /// linear_of() of 8 elements, with its operations in its order.
  TW_DEVICE static void make_linear(params const& p, int row, int col, float (&x)[wide]) {
    epilogue_params const& e = p.epilogue;
    fused_params const& f = e.fused;
    auto const bias = [&](int j) {
      return load_as_float(f.bias, f.bias_type, f.bias_rows ? row : col + j);
    };
    if (bias_takes_alpha(e)) {
      TW_UNROLL
      for (int j = 0; j < wide; ++j) x[j] = fmaf(e.alpha, x[j], bias(j));
      return;
    }
    TW_UNROLL
    for (int j = 0; j < wide; ++j) x[j] = times_alpha(e.alpha, x[j]);
    if (f.row_scale != nullptr) {
      float const of_row = f.row_scale[row * f.row_scale_step];
      TW_UNROLL
      for (int j = 0; j < wide; ++j) x[j] *= of_row;
    }
    if (f.col_scale != nullptr) {
      TW_UNROLL
      for (int j = 0; j < wide; ++j) x[j] *= f.col_scale[(col + j) * f.col_scale_step];
    }
    if (f.bias != nullptr) {
      TW_UNROLL
      for (int j = 0; j < wide; ++j) x[j] += bias(j);
    }
    if (!f.c_last) add_c(p, row, col, x);
  }
  TW_DEVICE static void add_c(params const& p, int row, int col, float (&x)[wide]) {
    if (p.epilogue.c.data == nullptr) return;
    TW_UNROLL
    for (int j = 0; j < wide; ++j) x[j] = with_c(p, row, col + j, x[j]);
  }

  /// x of the epilogue (problem/epilogue.hpp), which is also the auxiliary output.
  TW_DEVICE static float linear(params const& p, int row, int col) {
    float const x = linear_of(p, row, col, sum_of(p, row, col));
    if (p.aux.data != nullptr) store(p.aux, row, col, x);
    return x;
  }
  TW_DEVICE static float linear_of(params const& p, int row, int col, float sum) {
    epilogue_params const& e = p.epilogue;
    fused_params const& f = e.fused;
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
