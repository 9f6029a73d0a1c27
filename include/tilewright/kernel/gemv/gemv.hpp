// SPDX-License-Identifier: Apache-2.0
// gemv.hpp  GEMV: D = alpha * A * B + beta * C with N <= 16, bound by reading A
//           once. Persistent CTAs whose warps load A straight into registers, each a slice of K,
//           and add in shared memory, in a fixed order: the same bits each time.
#pragma once

#include <math.h>

#include <type_traits>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/epilogue/formula.hpp"
#include "tilewright/kernel/epilogue/load_as_float.hpp"
#include "tilewright/kernel/gemv/fma.hpp"
#include "tilewright/kernel/gemv/mma.hpp"

namespace tw {

template <gemv_config C>
struct gemv {
  static_assert(C.unroll >= 1 && C.warps_m >= 1 && C.warps_k >= 1 && C.threads() <= 1024,
                "[TW0223] a GEMV has up to 32 warps, which each issue loads");

  using multiply = std::conditional_t<C.by_mma(), gemv_mma<C>, gemv_fma<C>>;
  using params = gemv_params;
  static constexpr int threads = C.threads();
  static constexpr int cluster = 1;
  static constexpr int ctas_per_sm = C.ctas_per_sm;

  // 4 words more than the rows: the lanes of a fragment write to different banks.
  static constexpr int pitch = C.rows + 4;
  struct smem {
    float part[2][C.warps_m][C.warps_k][C.cols * pitch];  // two: a group's are read during the next
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const warp_m = warp_id() / C.warps_k, warp_k = warp_id() % C.warps_k;
    grid_dependency_wait();  // operands, C and D may be the launch before's until here
    int buffer = 0;
    for (int item = cta_id(); item < p.items; item += cta_count(), buffer ^= 1) {
      int const product = item / p.groups, first = item % p.groups * C.cta_rows();
      int const row = first + warp_m * C.rows;
      if (row < p.m) {
        float* const part = s.part[buffer][warp_m][warp_k];
        multiply::run(place(p, product, row, warp_k),
                      [&](int r, int c, float sum) { part[c * pitch + r] = sum; });
      }
      if (item + cta_count() >= p.items) grid_dependents_launch();  // the last loads are done
      cta_sync();
      store(p, s.part[buffer], product, first);
    }
  }

 private:
  TW_DEVICE static gemv_place place(params const& p, int product, int row, int warp_k) {
    constexpr int bytes = size_bytes(C.ab);
    std::int64_t const a = product * p.a.batch_stride + row * p.a.pitch;
    std::int64_t const b = product * p.b.batch_stride;
    return {static_cast<std::byte const*>(p.a.data) + a * bytes,
            static_cast<std::byte const*>(p.b.data) + b * bytes,
            p.a.pitch * bytes,
            p.b.pitch * bytes,
            p.m - row,
            p.n,
            p.pieces,
            warp_k};
  }

  /// Adds the parts and writes a group of rows from `first`.
  TW_DEVICE static void store(params const& p,
                              float const (&part)[C.warps_m][C.warps_k][C.cols * pitch],
                              int product, int first) {
    constexpr int rows = C.cta_rows();
    for (int i = thread_id(); i < rows * C.cols; i += threads) {
      int const r = i % rows, col = i / rows, row = first + r;
      if (row >= p.m || col >= p.n) continue;
      float sum = 0;
      TW_UNROLL
      for (int w = 0; w < C.warps_k; ++w) sum += part[r / C.rows][w][col * pitch + r % C.rows];
      put(p, product, row, col, sum);
    }
  }

  TW_DEVICE static void put(params const& p, int product, int row, int col, float sum) {
    float x = times_alpha(p.alpha, sum);
    gemv_scales const& s = p.scales;
    // The rows of the requested GEMM come first, as in kernel/epilogue.
    float const of_row = s.row == nullptr ? 1.0F : s.row[row * s.row_step];
    float const of_col = s.col == nullptr ? 1.0F : s.col[col * s.col_step];
    x = s.col_first ? x * of_col * of_row : x * of_row * of_col;
    if (p.c.data != nullptr)
      x = fmaf(
          p.beta,
          load_as_float(p.c.data, p.c.type,
                        product * p.c.batch_stride + row * p.c.row_stride + col * p.c.col_stride),
          x);
    std::int64_t const to =
        product * p.d.batch_stride + row * p.d.row_stride + col * p.d.col_stride;
    if constexpr (holds_float_sums(C.d))
      static_cast<words::f32*>(p.d.data)[to] = x;
    else
      static_cast<words::b16*>(p.d.data)[to] = static_cast<std::uint16_t>(pack2<C.d>(x, 0.0F));
  }
};

}  // namespace tw
