// SPDX-License-Identifier: Apache-2.0
// 09_streaming_stores.hpp  Rung 9: pairs of elements, row by row, past the caches; no zeroed sums.
#pragma once

#include "ladder/cluster.hpp"

namespace ladder {

template <config C = config{}>
struct rung_09 {
  static constexpr int bm = 128, bn = 256, bk = 64, stages = 4;
  static constexpr int consumers = 2, threads = 128 * (consumers + 1);
  static constexpr int cluster_m = C.cluster_m, cluster_n = C.cluster_n;
  static constexpr int cluster = cluster_m * cluster_n;
  static constexpr int a_rows = bm / cluster_n, b_rows = bn / cluster_m;  // that one CTA loads
  static constexpr layout atom = smem_atom(operand_major::k, smem_swizzle::b128, 16);
  static constexpr layout a_tile = tile_to_shape(atom, make_shape(bm, bk));
  static constexpr layout b_tile = tile_to_shape(atom, make_shape(bn, bk));
  static constexpr layout a_part = tile_to_shape(atom, make_shape(a_rows, bk));
  static constexpr layout b_part = tile_to_shape(atom, make_shape(b_rows, bk));
  static constexpr tiled_mma mma = make_tiled_mma(find_mma("mma.sm90.m64n256k16.f32.bf16.bf16.ss"),
                                                  make_layout(make_shape(2, 1, 1)));

  struct smem {
    alignas(1024) bf16 a[stages][bm * bk];
    alignas(1024) bf16 b[stages][bn * bk];
    mbarrier ab_landed[stages];
    mbarrier slot_free[stages];
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map a, b;  // boxes a_part and b_part
    bf16* d;
    int m, n, k_blocks, ldd;
    tile_walk order;  // which tile is the i-th
  };
  static params params_of(problem const& x) {
    return {map_of(x.a, x.m, x.k, x.lda, a_part, x.where),
            map_of(x.b, x.n, x.k, x.ldb, b_part, x.where),
            x.d,
            x.m,
            x.n,
            tiles(x.k, bk),
            x.ldd,
            tile_walk(order_of(x))};
  }
  /// Bands of 16 tile rows.
  static tile_order order_of(problem const& x) {
    return {tiles(x.m, bm * cluster_m), tiles(x.n, bn * cluster_n), 16};
  }
  static int ctas(problem const& x) {
    return cluster * std::min(x.sms / cluster, order_of(x).tiles());
  }

  /// This CTA's tile of cluster tile i.
  TW_DEVICE static tile_place tile_of(params const& p, int i) {
    tile_place const at = p.order.place(i);
    cluster_place<cluster_m, cluster_n> const mine;
    return {at.m * cluster_m + mine.m, at.n * cluster_n + mine.n, 0};
  }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) {
        s.ab_landed[i].init(1);                    // the producer arrives
        s.slot_free[i].init(consumers * cluster);  // those of all CTAs that get the stage
      }
      fence_mbarrier_init();
    }
    cluster_sync();
    if (warpgroup_id() == consumers) {
      set_max_regs_dec<24>();
      if (thread_id() == 128 * consumers) produce(p, s);
      warp_sync();  // one lane ran the loop
    } else {
      set_max_regs_inc<240>();
      consume(p, s);
    }
    cluster_sync();  // a peer may still signal this CTA
  }

  /// One thread loads K blocks as stages become free.
  TW_DEVICE static void produce(params const& p, smem& s) {
    enter_role("producer");
    cluster_place<cluster_m, cluster_n> const mine;
    ring<stages> slot;
    for (int i = cluster_id(); i < p.order.order.tiles(); i += cluster_count()) {
      tile_place const at = tile_of(p, i);
      for (int k = 0; k < p.k_blocks; ++k, slot.next()) {
        s.slot_free[slot.stage].wait(slot.phase ^ 1U);  // passes at once in the first turn
        mbarrier& landed = s.ab_landed[slot.stage];
        landed.arrive_expect_tx(sizeof(s.a[0]) + sizeof(s.b[0]));
        load<cluster_n>(s.a[slot.stage] + mine.n * a_rows * bk, p.a, landed,
                        {{k * bk, at.m * bm + mine.n * a_rows}}, mine.same_rows());
        load<cluster_m>(s.b[slot.stage] + mine.m * b_rows * bk, p.b, landed,
                        {{k * bk, at.n * bn + mine.m * b_rows}}, mine.same_columns());
      }
    }
  }

  /// Each consumer multiplies its 64 rows of the K blocks as they land.
  TW_DEVICE static void consume(params const& p, smem& s) {
    enter_role("consumer");
    ring<stages> slot;
    for (int i = cluster_id(); i < p.order.order.tiles(); i += cluster_count()) {
      accumulators<mma, bm, bn> sums;
      for (int k = 0; k < p.k_blocks; ++k, slot.next()) {
        s.ab_landed[slot.stage].wait(slot.phase);
        auto const sA = make_tensor<a_tile>(make_smem_ptr<1024>(s.a[slot.stage]));  // (bm, bk)
        auto const sB = make_tensor<b_tile>(make_smem_ptr<1024>(s.b[slot.stage]));  // (bn, bk)
        fence(sums);
        gemm<mma>(sA, sB, sums, k > 0 || has<C>(bug::adds_to_nothing));  // k == 0: sums = A B
        wgmma_commit();
        wait(sums);
        if (thread_id() % 128 < cluster)
          s.slot_free[slot.stage].arrive_remote_relaxed(thread_id() % 128);
      }
      tile_place const at = tile_of(p, i);
      store(p, sums, at.m, at.n);
    }
  }

  /// Each thread stores pairs of neighbours: a row's from left to right, then those 8 rows below.
  template <class Sums>
  TW_DEVICE static void store(params const& p, Sums& sums, int m, int n) {
    auto const D = view_of_d<C>(p.d, p.m, p.n, p.ldd);
    auto const tD = partition_c<mma>(local_tile<tile(bm, bn)>(D, m, n), thread_id());
    auto const at =  // the row and column of each
        partition_c<mma>(local_tile<tile(bm, bn)>(identity_like(D), m, n), thread_id());
    TW_UNROLL
    for (int i = 0; i < 64; ++i) {
      int const v = 4 * (i % 32) + 2 * (i / 32);
      auto const pair = pack2<elem::bf16>(sums(v, 0, 0), sums(v + 1, 0, 0));
      if (elem_less(at(v + 1, 0, 0), p.m, p.n))
        store_streaming(reinterpret_cast<std::uint32_t*>(&tD(v, 0, 0)), pair);
      else if (elem_less(at(v, 0, 0), p.m, p.n))
        tD(v, 0, 0) = rounded(sums(v, 0, 0));
    }
  }
};

}  // namespace ladder
