// SPDX-License-Identifier: Apache-2.0
// 11_hilbert.hpp  Rung 11: tiles in the order of a Hilbert curve, so that each wave is compact.
#pragma once

#include "ladder/cluster.hpp"

namespace ladder {

template <config C = config{}>
struct rung_11 {
  static constexpr int bm = 128, bn = 256, bk = 64, stages = 3;
  static constexpr int consumers = 2, threads = 128 * (consumers + 1);
  static constexpr int cluster_m = C.cluster_m, cluster_n = C.cluster_n;
  static constexpr int cluster = cluster_m * cluster_n;
  static constexpr int a_rows = bm / cluster_n, b_rows = bn / cluster_m;  // that one CTA loads
  static constexpr layout atom = smem_atom(operand_major::k, smem_swizzle::b128, 16);
  static constexpr layout a_tile = tile_to_shape(atom, make_shape(bm, bk));
  static constexpr layout b_tile = tile_to_shape(atom, make_shape(bn, bk));
  static constexpr layout a_part = tile_to_shape(atom, make_shape(a_rows, bk));
  static constexpr layout b_part = tile_to_shape(atom, make_shape(b_rows, bk));
  static constexpr layout d_tile = tile_to_shape(atom, make_shape(64, bn));  // of one consumer
  static constexpr layout d_part = tile_to_shape(atom, make_shape(64, 64));  // of one TMA store
  static constexpr tiled_mma mma = make_tiled_mma(find_mma("mma.sm90.m64n256k16.f32.bf16.bf16.ss"),
                                                  make_layout(make_shape(2, 1, 1)));

  struct smem {
    alignas(1024) bf16 a[stages][bm * bk];
    alignas(1024) bf16 b[stages][bn * bk];
    alignas(1024) bf16 d[consumers][64 * bn];
    mbarrier ab_landed[stages];
    mbarrier slot_free[stages];
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map a, b, d;  // boxes a_part, b_part and d_part
    int k_blocks;
    tile_walk order;  // which tile is the i-th
  };
  static params params_of(problem const& x) {
    return {map_of(x.a, x.m, x.k, x.lda, a_part, x.where),
            map_of(x.b, x.n, x.k, x.ldb, b_part, x.where),
            map_of(x.d, x.m, x.n, x.ldd, d_part, x.where), tiles(x.k, bk), tile_walk(order_of(x))};
  }
  /// Squares as large as fit, each along a Hilbert curve: a power of two.
  static tile_order order_of(problem const& x) {
    int const m = tiles(x.m, bm * cluster_m), n = tiles(x.n, bn * cluster_n);
    auto const side = static_cast<int>(std::bit_floor(static_cast<unsigned>(std::min(m, n))));
    return {m, n, has<C>(bug::odd_square) ? 3 : side, 1, order_kind::hilbert};
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
        gemm<mma>(sA, sB, sums, k > 0);  // k == 0: sums = A B
        wgmma_commit();
        wait(sums);
        if (thread_id() % 128 < cluster)
          s.slot_free[slot.stage].arrive_remote_relaxed(thread_id() % 128);
      }
      tile_place const at = tile_of(p, i);
      store(p, s, sums, at.m * bm + 64 * warpgroup_id(), at.n * bn);
    }
    if (thread_id() % 128 == 0) tma_store_wait_read<0>();  // before this shared memory is freed
  }

  /// A consumer's 64 rows: registers, shared memory, TMA, which stores what lies in D.
  template <class Sums>
  TW_DEVICE static void store(params const& p, smem& s, Sums& sums, int row, int column) {
    int const own = warpgroup_id(), barrier = 1 + own;
    bool const leader = thread_id() % 128 == 0;
    auto const sD = make_tensor<d_tile>(make_smem_ptr<1024>(s.d[own]));  // (64, bn)
    if (leader) tma_store_wait_read<0>();                                // of the last tile
    named_barrier_sync(barrier, 128);
    int const r = 16 * (warp_id() % 4) + lane_id() % 16, c = lane_id() / 16 * 8;
    TW_UNROLL
    for (int q = 0; q < bn / 16; ++q) {
      auto const two = [&](int v) {
        return pack2<elem::bf16>(sums(8 * q + v, 0, 0), sums(8 * q + v + 1, 0, 0));
      };
      stmatrix<4>(&sD(r, 16 * q + c), b32<4>{{two(0), two(2), two(4), two(6)}});
    }
    fence_proxy_async();  // TMA reads what stmatrix wrote
    named_barrier_sync(barrier, 128);
    if (leader) {
      for (int j = 0; j < bn / 64; ++j)
        tma_store(p.d, s.d[own] + j * 64 * 64, tma_coord<2>{{column + 64 * j, row}});
      tma_store_commit();
    }
  }
};

}  // namespace ladder
