// SPDX-License-Identifier: Apache-2.0
// 02_tensor_cores.hpp  Rung 2: TMA brings tiles to shared memory, wgmma multiplies them there.
#pragma once

#include "ladder/ladder.hpp"
#include "ladder/token_barrier.hpp"

namespace ladder {

template <config C = config{}>
struct rung_02 {
  static constexpr int bm = 64, bn = 64, bk = 64, threads = 128, cluster = 1;
  static constexpr layout atom = smem_atom(operand_major::k, smem_swizzle::b128, 16);
  static constexpr layout a_tile = tile_to_shape(atom, make_shape(bm, bk));
  static constexpr layout b_tile = tile_to_shape(atom, make_shape(bn, bk));
  static constexpr tiled_mma mma = make_tiled_mma(find_mma("mma.sm90.m64n64k16.f32.bf16.bf16.ss"),
                                                  make_layout(make_shape(1, 1, 1)));

  struct smem {
    alignas(1024) bf16 a[bm * bk];
    alignas(1024) bf16 b[bn * bk];
    token_barrier ab_landed;
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map a, b;  // boxes (bm, bk) and (bn, bk)
    bf16* d;
    int m, n, k, ldd;
  };
  static params params_of(problem const& x) {
    return {map_of(x.a, x.m, x.k, x.lda, a_tile, x.where),
            map_of(x.b, x.n, x.k, x.ldb, b_tile, x.where),
            x.d,
            x.m,
            x.n,
            x.k,
            x.ldd};
  }
  static int ctas(problem const& x) { return x.m / bm * (x.n / bn); }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const m = cta_id() / (p.n / bn), n = cta_id() % (p.n / bn);
    if (thread_id() == 0) {
      s.ab_landed.init(threads);
      fence_mbarrier_init();
    }
    cta_sync();

    auto const sA = make_tensor<a_tile>(make_smem_ptr<1024>(s.a));  // (bm, bk)
    auto const sB = make_tensor<b_tile>(make_smem_ptr<1024>(s.b));  // (bn, bk)
    accumulators<mma, bm, bn> sums;
    set_to_zero(sums);
    for (int k = 0; k < p.k / bk; ++k) {
      s.ab_landed.wait(thread_id() == 0 ? load(p, s, m, n, k) : s.ab_landed.arrive());
      fence(sums);
      gemm<mma>(sA, sB, sums, true);  // four wgmma.m64n64k16
      wgmma_commit();
      if (!has<C>(bug::no_wgmma_wait)) wait(sums);
      cta_sync();  // all warps have read the tiles
    }
    store(p, sums, m, n);
  }

  /// One thread starts the copies of step k; the barrier counts their bytes.
  TW_DEVICE static auto load(params const& p, smem& s, int m, int n, int k) {
    auto const token = s.ab_landed.arrive_expect_tx(sizeof(s.a) + sizeof(s.b));
    tma_load(s.a, p.a, s.ab_landed.barrier, tma_coord<2>{{k * bk, m * bm}});
    tma_load(s.b, p.b, s.ab_landed.barrier, tma_coord<2>{{k * bk, n * bn}});
    return token;
  }

  /// Each thread stores the elements that wgmma left in its registers.
  template <class Sums>
  TW_DEVICE static void store(params const& p, Sums& sums, int m, int n) {
    auto const gD = local_tile<tile(bm, bn)>(view_of_d<C>(p.d, p.m, p.n, p.ldd), m, n);
    auto const tD = partition_c<mma>(gD, thread_id());  // (32, 1, 1)
    TW_UNROLL
    for (int v = 0; v < 32; ++v) tD(v, 0, 0) = rounded(sums(v, 0, 0));
  }
};

}  // namespace ladder
