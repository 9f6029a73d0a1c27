// SPDX-License-Identifier: Apache-2.0
// epilogue.hpp  The epilogue of the Blackwell GEMM: a warp takes 32 rows of an accumulator out of
//               tensor memory, a box of columns at a time. Thread t has row t of the box. The
//               formula is that of the other kernels (kernel/epilogue, problem/epilogue.hpp).
#pragma once

#include <type_traits>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/epilogue/add_c.hpp"
#include "tilewright/kernel/epilogue/ops.hpp"
#include "tilewright/kernel/sm100/config.hpp"
#include "tilewright/kernel/sm100/params.hpp"

namespace tw {

template <sm100_config C>
struct sm100_epilogue {
  static constexpr int rows = 32;                     // of a warp: its lanes of tensor memory
  static constexpr int cols = 128 / size_bytes(C.d);  // of a box: one span of the swizzle
  static constexpr int row_bytes = cols * size_bytes(C.d);
  static constexpr int box_bytes = rows * row_bytes;
  using element = typename word_of_bytes<size_bytes(C.d)>::type;
  using sums = tmem_words<tmem_shape::l32x32b, cols>;

  /// Where a box lies in D: its first row and column.
  using place = fragment_place;

  /// A thread's sums of a box at D(at), in row at.row + lane_id(), become its elements of D, not
  /// rounded yet. Rows and columns beyond D get anything. Sums are multiplied by `scale` first.
  TW_DEVICE static void compute(epilogue_params const& p, place at, sums const& sum,
                                float (&x)[cols], float scale) {
    bool const later = C.fused && bias_takes_alpha(p);
    TW_UNROLL
    for (int i = 0; i < cols; ++i)
      x[i] = times_alpha(later ? 1.0F : p.alpha, scale * tmem_float(sum.r[i]));
    int const row = at.row + lane_id();
    place const mine{row < p.m ? row : p.m - 1, at.col, at.batch};
    if constexpr (C.fused) scale_and_bias(p, mine, x);
    bool const c_last = C.fused && p.fused.c_last;
    bool const with_c = p.c.data != nullptr && row < p.m;
    if (with_c && !c_last) add_c(p, mine, x);
    if constexpr (C.fused) {
      with_activation(p.fused.act, [&](auto act) {
        TW_UNROLL
        for (int i = 0; i < cols; ++i) x[i] = act(x[i]);
      });
      if (with_c && c_last) add_c(p, mine, x);
    }
  }

  /// Writes a thread's row to a box in shared memory, rounded.
  TW_DEVICE static void stage(std::byte* box, float const (&x)[cols]) {
    struct alignas(16) chunk {
      word w[4];
    };
    constexpr int in_chunk = 16 / size_bytes(C.d);
    TW_UNROLL
    for (int i = 0; i < cols; i += in_chunk) {
      chunk v;
      TW_UNROLL
      for (int j = 0; j < 4; ++j) v.w[j] = word_of(x, i + j * in_chunk / 4);
      *reinterpret_cast<chunk*>(box + offset_of(lane_id(), i)) = v;
    }
  }

  /// Stores a staged box at D(at): by TMA, or by plain stores of what is inside where TMA cannot
  /// address D or a row ends inside of 16 bytes. The warp has passed a barrier since stage().
  TW_DEVICE static void store(epilogue_params const& p, std::byte const* box, place at) {
    if (at.col + cols <= p.tma_end) {
      if (lane_id() == 0) tma_store(p.d, box, tma_coord{at.col, at.row, at.batch});
    } else {
      store_plain(p, box, at);
    }
    if (lane_id() == 0) tma_store_commit();  // an empty group after plain stores keeps the count
  }

 private:
  /// Where an element of a box lies in shared memory, in bytes.
  TW_DEVICE static std::uint32_t offset_of(int row, int col) {
    return swizzled(static_cast<std::uint32_t>(row * row_bytes + col * size_bytes(C.d)),
                    swizzle_mode::b128);
  }
  /// 32 bits of a row from column i on.
  using word = std::conditional_t<C.d == elem::f32, float, std::uint32_t>;
  TW_DEVICE static word word_of(float const (&x)[cols], int i) {
    if constexpr (C.d == elem::f32)
      return x[i];
    else
      return pack2<C.d>(x[i], x[i + 1]);
  }

  /// x of problem/epilogue.hpp but for C. The scales of the requested GEMM's rows come first.
  TW_DEVICE static void scale_and_bias(epilogue_params const& p, place at, float (&x)[cols]) {
    fused_params const& f = p.fused;
    TW_NO_UNROLL
    for (int turn = 0; turn < 2; ++turn) {
      if ((turn == 0) == f.col_scale_first) {
        if (f.col_scale == nullptr) continue;
        few(x,
            [&](int i, float y) { return y * f.col_scale[col_of(p, at, i) * f.col_scale_step]; });
      } else if (f.row_scale != nullptr) {
        float const scale = f.row_scale[at.row * f.row_scale_step];
        each(x, [&](int, float y) { return y * scale; });
      }
    }
    if (f.bias == nullptr) return;
    float const with_bias = bias_takes_alpha(p) ? p.alpha : 1.0F;
    if (f.bias_rows) {
      float const bias = load_as_float(f.bias, f.bias_type, at.row);
      each(x, [&](int, float y) { return fmaf(with_bias, y, bias); });
    } else {
      few(x, [&](int i, float y) {
        return fmaf(with_bias, y, load_as_float(f.bias, f.bias_type, col_of(p, at, i)));
      });
    }
  }
  template <class F>
  TW_DEVICE static void each(float (&x)[cols], F f) {
    TW_UNROLL
    for (int i = 0; i < cols; ++i) x[i] = f(i, x[i]);
  }
  /// The same where f loads: a few columns at a time, so that few addresses are in registers.
  template <class F>
  TW_DEVICE static void few(float (&x)[cols], F f) {
    TW_UNROLL
    for (int i = 0; i < cols; ++i) {
      if (i % 4 == 0) compiler_fence();
      x[i] = f(i, x[i]);
    }
  }
  TW_DEVICE static int col_of(epilogue_params const& p, place at, int i) {
    return at.col + i < p.n ? at.col + i : p.n - 1;
  }

  TW_DEVICE static void add_c(epilogue_params const& p, place at, float (&x)[cols]) {
    std::int64_t const first = at.batch * p.c.batch_stride + at.row * p.c.row_stride;
    few(x, [&](int i, float y) {
      std::int64_t const of_col = col_of(p, at, i) * p.c.col_stride;
      return fmaf(p.beta, load_as_float(p.c.data, p.c.type, first + of_col), y);
    });
  }

  TW_DEVICE static void store_plain(epilogue_params const& p, std::byte const* box, place at) {
    auto* const d =
        static_cast<element*>(p.data) + at.batch * p.batch_stride + at.row * p.pitch + at.col;
    int const m = p.m - at.row, n = p.n - at.col;  // inside
    TW_NO_UNROLL
    for (int row = 0; row < rows && row < m; ++row) {
      TW_UNROLL
      for (int col = lane_id(); col < cols; col += 32)
        if (col < n)
          d[row * p.pitch + col] = *reinterpret_cast<element const*>(box + offset_of(row, col));
    }
  }
};

}  // namespace tw
