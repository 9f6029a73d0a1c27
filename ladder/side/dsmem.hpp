// SPDX-License-Identifier: Apache-2.0
// dsmem.hpp  Beside rung 8: CTAs of a pair load half of B each and copy it to the other through
//            distributed shared memory, instead of by multicast; any M, N, K.
#pragma once

#include "ladder/cluster.hpp"

namespace ladder {

template <config C = config{}>
struct side_dsmem {
  static constexpr int bm = 128, bn = 256, bk = 64, stages = 4;
  static constexpr int consumers = 2, threads = 128 * (consumers + 1);
  static constexpr int cluster = 2;                         // two tiles above each other
  static constexpr int a_rows = bm, b_rows = bn / cluster;  // that one CTA loads
  static constexpr layout atom = smem_atom(operand_major::k, smem_swizzle::b128, 16);
  static constexpr layout a_tile = tile_to_shape(atom, make_shape(bm, bk));
  static constexpr layout b_tile = tile_to_shape(atom, make_shape(bn, bk));
  static constexpr layout b_part = tile_to_shape(atom, make_shape(b_rows, bk));
  static constexpr tiled_mma mma = make_tiled_mma(find_mma("mma.sm90.m64n256k16.f32.bf16.bf16.ss"),
                                                  make_layout(make_shape(2, 1, 1)));

  struct smem {
    alignas(1024) bf16 a[stages][bm * bk];
    alignas(1024) bf16 b[stages][bn * bk];
    mbarrier ab_landed[stages];    // A, and both halves of B
    mbarrier half_landed[stages];  // this CTA's half of B, for the thread that copies it
    mbarrier slot_free[stages];
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map a, b;  // boxes a_tile and b_part
    bf16* d;
    int m, n, k_blocks, ldd;
    tile_walk order;  // which tile is the i-th
  };
  static params params_of(problem const& x) {
    return {map_of(x.a, x.m, x.k, x.lda, a_tile, x.where),
            map_of(x.b, x.n, x.k, x.ldb, b_part, x.where),
            x.d,
            x.m,
            x.n,
            tiles(x.k, bk),
            x.ldd,
            tile_walk(order_of(x))};
  }
  static tile_order order_of(problem const& x) {  // bands of 16 tile rows
    return {tiles(x.m, bm * cluster), tiles(x.n, bn), 16};
  }
  static int ctas(problem const& x) {
    return cluster * std::min(x.sms / cluster, order_of(x).tiles());
  }

  /// This CTA's tile of cluster tile i.
  TW_DEVICE static tile_place tile_of(params const& p, int i) {
    tile_place const at = p.order.place(i);
    return {at.m * cluster + cluster_rank(), at.n, 0};
  }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) {
        s.ab_landed[i].init(1);  // the producer arrives
        s.half_landed[i].init(1);
        s.slot_free[i].init(consumers * cluster);  // those of all CTAs that get the stage
      }
      fence_mbarrier_init();
    }
    cluster_sync();
    if (warpgroup_id() == consumers) {
      set_max_regs_dec<24>();
      if (thread_id() == 128 * consumers) produce(p, s);
      if (thread_id() == 128 * consumers + 32) copy_to_peer(p, s);
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
    int const own = cluster_rank();
    ring<stages> slot;
    for (int i = cluster_id(); i < p.order.order.tiles(); i += cluster_count()) {
      tile_place const at = tile_of(p, i);
      for (int k = 0; k < p.k_blocks; ++k, slot.next()) {
        s.slot_free[slot.stage].wait(slot.phase ^ 1U);  // passes at once in the first turn
        mbarrier& landed = s.ab_landed[slot.stage];
        mbarrier& half = s.half_landed[slot.stage];
        landed.arrive_expect_tx(sizeof(s.a[0]) + sizeof(s.b[0]) / 2);  // the peer's half
        half.arrive_expect_tx(sizeof(s.b[0]) / 2);
        tma_load(s.a[slot.stage], p.a, landed, tma_coord<2>{{k * bk, at.m * bm}});
        tma_load(s.b[slot.stage] + own * b_rows * bk, p.b, half,
                 tma_coord<2>{{k * bk, at.n * bn + own * b_rows}});
      }
    }
  }

  /// One thread copies this CTA's halves of B to the peer as they land.
  TW_DEVICE static void copy_to_peer(params const& p, smem& s) {
    enter_role("copier");
    ring<stages> slot;
    for (int i = cluster_id(); i < p.order.order.tiles(); i += cluster_count())
      for (int k = 0; k < p.k_blocks; ++k, slot.next()) {
        s.half_landed[slot.stage].wait(slot.phase);
        bf16* const half = s.b[slot.stage] + cluster_rank() * b_rows * bk;
        bulk_copy_to_peer(half, half, sizeof(s.b[0]) / 2, s.ab_landed[slot.stage],
                          cluster_rank() ^ 1);
      }
  }

  /// Each consumer multiplies its 64 rows of the K blocks as they land.
  TW_DEVICE static void consume(params const& p, smem& s) {
    enter_role("consumer");
    ring<stages> slot;
    for (int i = cluster_id(); i < p.order.order.tiles(); i += cluster_count()) {
      accumulators<mma, bm, bn> sums;
      set_to_zero(sums);
      for (int k = 0; k < p.k_blocks; ++k, slot.next()) {
        s.ab_landed[slot.stage].wait(slot.phase);
        s.half_landed[slot.stage].wait(slot.phase);
        auto const sA = make_tensor<a_tile>(make_smem_ptr<1024>(s.a[slot.stage]));  // (bm, bk)
        auto const sB = make_tensor<b_tile>(make_smem_ptr<1024>(s.b[slot.stage]));  // (bn, bk)
        fence(sums);
        gemm<mma>(sA, sB, sums, true);
        wgmma_commit();
        wait(sums);
        if (thread_id() % 128 < cluster)
          s.slot_free[slot.stage].arrive_remote_relaxed(thread_id() % 128);
      }
      tile_place const at = tile_of(p, i);
      store(p, sums, at.m, at.n);
    }
  }

  /// Each thread stores those elements of its registers that lie in D.
  template <class Sums>
  TW_DEVICE static void store(params const& p, Sums& sums, int m, int n) {
    auto const D = gmem_view<16>(p.d, p.m, p.n, p.ldd);
    auto const tD = partition_c<mma>(local_tile<tile(bm, bn)>(D, m, n), thread_id());
    auto const at =  // the row and column of each
        partition_c<mma>(local_tile<tile(bm, bn)>(identity_like(D), m, n), thread_id());
    TW_UNROLL
    for (int v = 0; v < 128; ++v)
      if (elem_less(at(v, 0, 0), p.m, p.n)) tD(v, 0, 0) = rounded(sums(v, 0, 0));
  }
};

}  // namespace ladder
