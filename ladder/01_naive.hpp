// SPDX-License-Identifier: Apache-2.0
// 01_naive.hpp  Rung 1: CUDA cores. Each thread computes 4 x 4 elements of D in float32.
#pragma once

#include "ladder/ladder.hpp"

namespace ladder {

template <config C = config{}>
struct rung_01 {
  static constexpr int bm = 64, bn = 64, bk = 8, threads = 256, cluster = 1, smem_bytes = 0;
  /// Thread t computes rows t / 16 + 16 i and columns t % 16 + 16 j of the tile.
  static constexpr layout rows = "(16,1):(1,0)"_L;
  static constexpr layout rows_and_columns = "(16,16):(16,1)"_L;

  using params = problem;
  static params params_of(problem const& x) { return x; }
  static int ctas(problem const& x) { return x.m / bm * (x.n / bn); }

  TW_DEVICE static void run(params const& p) {
    int const m = cta_id() / (p.n / bn), n = cta_id() % (p.n / bn), t = thread_id();
    auto const gA = local_tile<tile(bm, bk)>(gmem_view<16>(p.a, p.m, p.k, p.lda), m);
    auto const gB = local_tile<tile(bn, bk)>(gmem_view<16>(p.b, p.n, p.k, p.ldb), n);
    auto const gD = local_tile<tile(bm, bn)>(gmem_view<16>(p.d, p.m, p.n, p.ldd), m, n);
    auto const tA = local_partition<rows>(gA, t / 16);         // (4, 8, steps)
    auto const tB = local_partition<rows>(gB, t % 16);         // (4, 8, steps)
    auto const tD = local_partition<rows_and_columns>(gD, t);  // (4, 4)

    fragment<bf16, "(4,8):(8,1)"_L> a, b;
    fragment<float, "(4,4):(4,1)"_L> sums;
    clear(sums);
    int const steps = p.k / bk + (has<C>(bug::one_step_more) ? 1 : 0);
    TW_NO_UNROLL
    for (int k = 0; k < steps; ++k) {
      copy(tA(_, _, k), a);  // 16 bytes of each row
      copy(tB(_, _, k), b);
      gemm(a, b, sums);
    }
    TW_UNROLL
    for (int i = 0; i < 16; ++i) tD(i / 4, i % 4) = rounded(sums(i / 4, i % 4));
  }
};

}  // namespace ladder
