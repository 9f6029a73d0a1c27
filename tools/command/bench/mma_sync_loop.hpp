// SPDX-License-Identifier: Apache-2.0
// mma_sync_loop.hpp  mma.sync without loads: the ceiling of kernels that use it.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/base/hd.hpp"

namespace tw::bench {

/// Warps that multiply 64 x 64 blocks as those of the Ampere GEMM do, m16n8k16, on operands that
/// stay in registers: two sets of them in turn.
template <elem E>
struct mma_sync_loop {
  struct params {
    uint4 const* data;  // operand_bytes
    int k_steps;        // of 16, even
    float* sink;        // null: the sums are not stored
  };
  static constexpr int m = 4, n = 8;  // m16 and n8 blocks of a warp
  static constexpr int threads = 128, cluster = 1, smem_bytes = 0, ctas_per_sm = 2;
  static constexpr int sets = 2;
  static constexpr int operand_bytes = sets * threads * (m + n / 2) * 16;
  static constexpr double flop_per_k_step = 2.0 * (threads / 32) * 16 * m * 8 * n * 16;  // of a CTA

  TW_DEVICE static void run(params const& p) {
    b32<4> a[sets][m], b[sets][n / 2];  // two n8 blocks in each of b
    uint4 const* from = p.data + thread_id();
    auto const next = [&] {
      uint4 const x = *from;
      from += threads;
      return b32<4>{{x.x, x.y, x.z, x.w}};
    };
    TW_UNROLL
    for (int s = 0; s < sets; ++s) {
      TW_UNROLL
      for (int i = 0; i < m; ++i) a[s][i] = next();
      TW_UNROLL
      for (int j = 0; j < n / 2; ++j) b[s][j] = next();
    }
    float sum[m][n][4] = {};
    TW_NO_UNROLL
    for (int k = 0; k < p.k_steps; k += sets) {
      TW_UNROLL
      for (int s = 0; s < sets; ++s) {
        TW_UNROLL
        for (int i = 0; i < m; ++i) {
          TW_UNROLL
          for (int j = 0; j < n; ++j)
            mma_sync<E>(sum[i][j], a[s][i],
                        b32<2>{{b[s][j / 2].r[j % 2 * 2], b[s][j / 2].r[j % 2 * 2 + 1]}});
        }
      }
    }
    float total = 0;
    TW_UNROLL
    for (int i = 0; i < m * n * 4; ++i) total += sum[i / (4 * n)][i / 4 % n][i % 4];
    if (p.sink == nullptr) return;  // known at run time alone: the loop stays
    p.sink[cta_id() * threads + thread_id()] = total;
  }
};

}  // namespace tw::bench
