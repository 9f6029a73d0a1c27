// SPDX-License-Identifier: Apache-2.0
// rows.hpp  Rows of tokens to the places of their pairs (gather), and back: the rows of a token's
//           pairs, each times its weight, are added in the order of its choices, in float32, and
//           rounded once (combine). The sum does not depend on the order of CTAs.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/epilogue/load_as_float.hpp"
#include "tilewright/kernel/moe/copy_row.hpp"
#include "tilewright/kernel/moe/params.hpp"

namespace tw {

/// A warp copies a row: place i has the row of token source[i] / choices.
struct moe_gather_kernel {
  using params = moe_rows_params;
  static constexpr int threads = 256, cluster = 1, smem_bytes = 0;
  static constexpr int warps = threads / warp_threads;

  TW_HD static constexpr int ctas(params const& p) { return (p.count + warps - 1) / warps; }

  TW_DEVICE static void run(params const& p) {
    if constexpr (dependent_launches()) {
      grid_dependents_launch();
      grid_dependency_wait();
    }
    int const row = cta_id() * warps + warp_id();
    if (row >= p.count || row >= *p.rows) return;
    int const bytes = size_bytes(p.type);
    copy_row(
        static_cast<std::byte*>(p.to) + row * p.to_pitch * bytes,
        static_cast<std::byte const*>(p.from) + p.index[row] / p.choices * p.from_pitch * bytes,
        std::int64_t{p.cols} * bytes, bytes);
  }
};

/// A thread adds an element of a token.
struct moe_combine_kernel {
  using params = moe_rows_params;
  static constexpr int threads = 256, cluster = 1, smem_bytes = 0;

  TW_HD static constexpr int ctas(params const& p) { return p.count; }

  TW_DEVICE static void run(params const& p) {
    if constexpr (dependent_launches()) {
      grid_dependents_launch();
      grid_dependency_wait();
    }
    int const token = cta_id();
    for (int c = thread_id(); c < p.cols; c += threads) {
      float sum = 0;
      for (int k = 0; k < p.choices; ++k) {
        std::int64_t const pair = std::int64_t{token} * p.choices + k;
        int const place = p.index[pair];
        if (place < 0) continue;
        auto const* const row = static_cast<std::byte const*>(p.from) +
                                (p.scattered ? pair : place) * p.from_pitch * size_bytes(p.type);
        float const weight = p.weights == nullptr ? 1.0F : p.weights[pair];
        sum = fmaf(weight, load_as_float(row, p.type, c), sum);
      }
      store(p, token * p.to_pitch + c, sum);
    }
  }

 private:
  TW_DEVICE static void store(params const& p, std::int64_t at, float x) {
    if (p.type == elem::f32)
      static_cast<words::f32*>(p.to)[at] = x;
    else
      static_cast<words::b16*>(p.to)[at] = p.type == elem::bf16 ? to_bf16(x).bits : to_f16(x).bits;
  }
};

}  // namespace tw
