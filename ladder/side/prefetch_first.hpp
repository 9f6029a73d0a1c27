// SPDX-License-Identifier: Apache-2.0
// prefetch_first.hpp  An experiment of rung 3: three stages and wgmma_wait<1>. The load of K block
//                     k + 2 is issued when its stage is free; with bug::prefetch_first before
//                     the multiply of block k, and with bug::warps_apart without a barrier
//                     too, as in the complete GEMM of a guide to Hopper.
#pragma once

#include "ladder/ladder.hpp"

namespace ladder {

template <config C = config{}>
struct side_prefetch_first {
  static constexpr int bm = 128, bn = 128, bk = 64, threads = 128, cluster = 1;
  static constexpr int stages = 3, ahead = stages - 1;  // K blocks from a load to its multiply
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
    int const m = cta_id() / (p.n / bn), n = cta_id() % (p.n / bn);
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) s.ab_landed[i].init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    for (int k = 0; k < ahead; ++k) load(p, s, m, n, k);

    accumulators<mma, bm, bn> sums;
    multiply_all(p, s, sums, m, n);
    store(p, sums, m, n);
  }

  /// The loop over K. At the end of a turn the group of its K block may be unfinished.
  template <class Sums>
  TW_DEVICE static void multiply_all(params const& p, smem& s, Sums& sums, int m, int n) {
    bool const before = has<C>(bug::prefetch_first) || has<C>(bug::warps_apart);
    ring<stages> slot;
    for (int k = 0; k < p.k / bk; ++k, slot.next()) {
      s.ab_landed[slot.stage].wait(slot.phase);
      if (before) load(p, s, m, n, k + ahead);
      auto const sA = make_tensor<a_tile>(make_smem_ptr<1024>(s.a[slot.stage]));  // (bm, bk)
      auto const sB = make_tensor<b_tile>(make_smem_ptr<1024>(s.b[slot.stage]));  // (bn, bk)
      fence(sums);
      gemm<mma>(sA, sB, sums, k > 0);
      wgmma_commit();
      wgmma_wait<1>(sums.part[0][0], sums.part[1][0]);  // the group of block k - 1 is complete
      if (!has<C>(bug::warps_apart)) cta_sync();        // ... in all warps: its stage is free
      if (!before) load(p, s, m, n, k + ahead);
    }
    wait(sums);
  }

  /// One thread starts the copies of K block k, if there is one: to the stage of block k - stages.
  TW_DEVICE static void load(params const& p, smem& s, int m, int n, int k) {
    if (thread_id() != 0 || k >= p.k / bk) return;
    mbarrier& landed = s.ab_landed[k % stages];
    landed.arrive_expect_tx(sizeof(s.a[0]) + sizeof(s.b[0]));
    tma_load(s.a[k % stages], p.a, landed, tma_coord<2>{{k * bk, m * bm}});
    tma_load(s.b[k % stages], p.b, landed, tma_coord<2>{{k * bk, n * bn}});
  }

  /// Each thread stores those elements of its registers that lie in D (side/multistage.hpp says why
  /// there is a condition).
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
