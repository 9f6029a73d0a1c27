// SPDX-License-Identifier: Apache-2.0
// multistage.hpp  Beside rung 3: one warpgroup with several stages (2: double buffering). After it
//                 has issued a group of wgmmas it waits until at most `in_flight` groups are
//                 unfinished: 0 is wait_group<0>, 1 is wait_group<1>.
#pragma once

#include "ladder/ladder.hpp"

namespace ladder {

template <config C = config{}>
struct side_multistage {
  static constexpr int bm = 128, bn = 128, bk = 64, threads = 128, cluster = 1;
  static constexpr int stages = C.stages, in_flight = C.in_flight;
  static_assert(in_flight < 2 && in_flight < stages,
                "the stage of a group in flight cannot be loaded again");
  static constexpr layout atom = smem_atom(operand_major::k, smem_swizzle::b128, 16);
  static constexpr layout a_tile = tile_to_shape(atom, make_shape(bm, bk));
  static constexpr layout b_tile = tile_to_shape(atom, make_shape(bn, bk));
  static constexpr tiled_mma mma = make_tiled_mma(find_mma("mma.sm90.m64n128k16.f32.bf16.bf16.ss"),
                                                  make_layout(make_shape(1, 1, 1)));

  struct smem {
    alignas(1024) bf16 a[stages][bm * bk];
    alignas(1024) bf16 b[stages][bn * bk];
    mbarrier ab_landed[stages];
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
    int const m = cta_id() / (p.n / bn), n = cta_id() % (p.n / bn), k_blocks = p.k / bk;
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) s.ab_landed[i].init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    if (thread_id() == 0)
      for (int k = 0; k < stages && k < k_blocks; ++k) load(p, s, m, n, k, k);

    accumulators<mma, bm, bn> sums;
    ring<stages> slot, finished;
    if constexpr (in_flight == 1) {  // the first group, which nothing waits for yet
      multiply(s, slot, sums, false);
      slot.next();
    }
    for (int k = in_flight; k < k_blocks; ++k, slot.next(), finished.next()) {
      multiply(s, slot, sums, in_flight == 1 || k > 0);
      wgmma_wait<in_flight>(sums.part[0][0], sums.part[1][0]);
      cta_sync();  // all warps have read the stage of step k - in_flight
      int const next = k - in_flight + stages;
      if (thread_id() == 0 && next < k_blocks) load(p, s, m, n, next, finished.stage);
    }
    wait(sums);
    store(p, sums, m, n);
  }

  /// A group of wgmmas, when its stage has landed.
  template <class Sums>
  TW_DEVICE static void multiply(smem& s, ring<stages> const& slot, Sums& sums, bool accumulate) {
    s.ab_landed[slot.stage].wait(slot.phase);
    auto const sA = make_tensor<a_tile>(make_smem_ptr<1024>(s.a[slot.stage]));  // (bm, bk)
    auto const sB = make_tensor<b_tile>(make_smem_ptr<1024>(s.b[slot.stage]));  // (bn, bk)
    fence(sums);
    gemm<mma>(sA, sB, sums, accumulate);
    wgmma_commit();
  }

  /// One thread starts the copies of step k.
  TW_DEVICE static void load(params const& p, smem& s, int m, int n, int k, int stage) {
    s.ab_landed[stage].arrive_expect_tx(sizeof(s.a[0]) + sizeof(s.b[0]));
    tma_load(s.a[stage], p.a, s.ab_landed[stage], tma_coord<2>{{k * bk, m * bm}});
    tma_load(s.b[stage], p.b, s.ab_landed[stage], tma_coord<2>{{k * bk, n * bn}});
  }

  /// Each thread stores those elements of its registers that lie in D. Without a condition
  /// ptxas 13.0 begins to read the accumulators too early, and serialises the wgmmas of
  /// wait_group<1> (C7514).
  template <class Sums>
  TW_DEVICE static void store(params const& p, Sums& sums, int m, int n) {
    auto const D = gmem_view<16>(p.d, p.m, p.n, p.ldd);
    auto const tD = partition_c<mma>(local_tile<tile(bm, bn)>(D, m, n), thread_id());
    auto const at =  // the row and column of each
        partition_c<mma>(local_tile<tile(bm, bn)>(identity_like(D), m, n), thread_id());
    TW_UNROLL
    for (int v = 0; v < 128; ++v)
      if (elem_less(at(v % 64, v / 64, 0), p.m, p.n))
        tD(v % 64, v / 64, 0) = rounded(sums(v % 64, v / 64, 0));
  }
};

}  // namespace ladder
