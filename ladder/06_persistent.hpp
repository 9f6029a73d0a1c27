// SPDX-License-Identifier: Apache-2.0
// 06_persistent.hpp  Rung 6: each CTA computes many tiles; stores overlap the loads of the next.
#pragma once

#include "ladder/ladder.hpp"
#include "ladder/token_barrier.hpp"

namespace ladder {

template <config C = config{}>
struct rung_06 {
  static constexpr int bm = 128, bn = 256, bk = 64, stages = 4, cluster = 1;
  static constexpr int consumers = 2, threads = 128 * (consumers + 1);
  static constexpr layout atom = smem_atom(operand_major::k, smem_swizzle::b128, 16);
  static constexpr layout a_tile = tile_to_shape(atom, make_shape(bm, bk));
  static constexpr layout b_tile = tile_to_shape(atom, make_shape(bn, bk));
  static constexpr tiled_mma mma = make_tiled_mma(find_mma("mma.sm90.m64n256k16.f32.bf16.bf16.ss"),
                                                  make_layout(make_shape(2, 1, 1)));

  struct smem {
    alignas(1024) bf16 a[stages][bm * bk];
    alignas(1024) bf16 b[stages][bn * bk];
    token_barrier ab_landed[stages];
    token_barrier slot_free[stages];
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map a, b;  // boxes (bm, bk) and (bn, bk)
    bf16* d;
    int m, n, k, ldd;
    tile_walk order;  // which tile is the i-th
  };
  static params params_of(problem const& x) {
    return {map_of(x.a, x.m, x.k, x.lda, a_tile, x.where),
            map_of(x.b, x.n, x.k, x.ldb, b_tile, x.where),
            x.d,
            x.m,
            x.n,
            x.k,
            x.ldd,
            tile_walk({x.m / bm, x.n / bn, C.grouped ? 16 : 1})};  // bands of 16 tile rows, or 1
  }
  static int ctas(problem const& x) { return std::min(x.sms, x.m / bm * (x.n / bn)); }

  /// This CTA's tiles: every ctas-th one, so that neighbours are computed at the same time; in the
  /// poor order a run of consecutive ones.
  struct my_tiles {
    int i, end, step;
  };
  TW_DEVICE static my_tiles tiles_of(params const& p) {
    int const all = p.order.order.tiles(), each = (all + cta_count() - 1) / cta_count();
    if constexpr (C.grouped) return {cta_id(), all, cta_count()};
    int const end = (cta_id() + 1) * each;
    return {cta_id() * each, end < all ? end : all, 1};
  }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) {
        s.ab_landed[i].init(1 + 128 * consumers);  // the producer and every consumer arrive
        s.slot_free[i].init(1 + 128 * consumers);
      }
      fence_mbarrier_init();
    }
    cta_sync();
    if (warpgroup_id() == consumers) {
      set_max_regs_dec<24>();
      if (thread_id() == 128 * consumers) produce(p, s);
    } else {
      set_max_regs_inc<240>();
      consume(p, s);
    }
  }

  /// One thread loads K blocks as stages become free.
  TW_DEVICE static void produce(params const& p, smem& s) {
    enter_role("producer");
    ring<stages> slot;
    for (my_tiles t = tiles_of(p); t.i < t.end; t.i += t.step) {
      tile_place const at = p.order.place(t.i);
      for (int k = 0; k < p.k / bk; ++k, slot.next()) {
        s.slot_free[slot.stage].wait(s.slot_free[slot.stage].arrive());
        mbarrier& landed = s.ab_landed[slot.stage].barrier;
        s.ab_landed[slot.stage].arrive_expect_tx(sizeof(s.a[0]) + sizeof(s.b[0]));
        tma_load(s.a[slot.stage], p.a, landed, tma_coord<2>{{k * bk, at.m * bm}});
        tma_load(s.b[slot.stage], p.b, landed, tma_coord<2>{{k * bk, at.n * bn}});
      }
    }
  }

  /// Each consumer multiplies its 64 rows of the K blocks as they land.
  TW_DEVICE static void consume(params const& p, smem& s) {
    enter_role("consumer");
    for (int i = 0; i < stages; ++i) s.slot_free[i].arrive();  // at first all stages are free
    ring<stages> slot;
    for (my_tiles t = tiles_of(p); t.i < t.end; t.i += t.step) {
      accumulators<mma, bm, bn> sums;
      set_to_zero(sums);
      if (has<C>(bug::ring_restarts)) slot = {};
      for (int k = 0; k < p.k / bk; ++k, slot.next()) {
        s.ab_landed[slot.stage].wait(s.ab_landed[slot.stage].arrive());
        auto const sA = make_tensor<a_tile>(make_smem_ptr<1024>(s.a[slot.stage]));  // (bm, bk)
        auto const sB = make_tensor<b_tile>(make_smem_ptr<1024>(s.b[slot.stage]));  // (bn, bk)
        if (!has<C>(bug::no_wgmma_fence)) fence(sums);
        gemm<mma>(sA, sB, sums, true);
        wgmma_commit();
        wait(sums);
        s.slot_free[slot.stage].arrive();
      }
      tile_place const at = p.order.place(t.i);
      store(p, sums, at.m, at.n);
    }
  }

  /// Each thread stores the elements that wgmma left in its registers.
  template <class Sums>
  TW_DEVICE static void store(params const& p, Sums& sums, int m, int n) {
    auto const gD = local_tile<tile(bm, bn)>(view_of_d<C>(p.d, p.m, p.n, p.ldd), m, n);
    auto const tD = partition_c<mma>(gD, thread_id());  // (128, 1, 1)
    TW_UNROLL
    for (int v = 0; v < 128; ++v) tD(v, 0, 0) = rounded(sums(v, 0, 0));
  }
};

}  // namespace ladder
