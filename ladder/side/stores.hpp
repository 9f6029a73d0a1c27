// SPDX-License-Identifier: Apache-2.0
// stores.hpp  An experiment of rung 9: its parts one by one. The first wgmma of a tile sets the
//             sums, as in rung 9; D is stored by elements or by pairs, past the caches or not, by
//             rows or by columns.
#pragma once

#include "ladder/09_streaming_stores.hpp"

namespace ladder {

template <config C = config{}>
struct side_stores : rung_09<C> {
  using rung = rung_09<C>;
  using smem = typename rung::smem;
  using params = typename rung::params;
  static constexpr int bm = rung::bm, bn = rung::bn, bk = rung::bk, cluster = rung::cluster;
  static constexpr tiled_mma mma = rung::mma;
  static_assert(C.pairs ? C.d_by_rows : !C.streamed);  // st.global.cs stores 4 bytes or more

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      for (int i = 0; i < rung::stages; ++i) {
        s.ab_landed[i].init(1);                          // the producer arrives
        s.slot_free[i].init(rung::consumers * cluster);  // in all CTAs that get it
      }
      fence_mbarrier_init();
    }
    cluster_sync();
    if (warpgroup_id() == rung::consumers) {
      set_max_regs_dec<24>();
      if (thread_id() == 128 * rung::consumers) rung::produce(p, s);
      warp_sync();  // one lane ran the loop
    } else {
      set_max_regs_inc<240>();
      consume(p, s);
    }
    cluster_sync();  // a peer may still signal this CTA
  }

  /// Each consumer multiplies its 64 rows of the K blocks as they land.
  TW_DEVICE static void consume(params const& p, smem& s) {
    enter_role("consumer");
    ring<rung::stages> slot;
    for (int i = cluster_id(); i < p.order.order.tiles(); i += cluster_count()) {
      accumulators<mma, bm, bn> sums;
      for (int k = 0; k < p.k_blocks; ++k, slot.next()) {
        s.ab_landed[slot.stage].wait(slot.phase);
        auto const sA = make_tensor<rung::a_tile>(make_smem_ptr<1024>(s.a[slot.stage]));
        auto const sB = make_tensor<rung::b_tile>(make_smem_ptr<1024>(s.b[slot.stage]));
        fence(sums);
        gemm<mma>(sA, sB, sums, k > 0);  // k == 0: sums = A B
        wgmma_commit();
        wait(sums);
        if (thread_id() % 128 < cluster)
          s.slot_free[slot.stage].arrive_remote_relaxed(thread_id() % 128);
      }
      tile_place const at = rung::tile_of(p, i);
      store(p, sums, at.m, at.n);
    }
  }

  /// By rows: a row's elements from left to right, then those 8 rows below. By columns: of each
  /// column the two rows of a sector in turn.
  template <class Sums>
  TW_DEVICE static void store(params const& p, Sums& sums, int m, int n) {
    auto const D = view_of_d<C>(p.d, p.m, p.n, p.ldd);
    auto const tD = partition_c<mma>(local_tile<tile(bm, bn)>(D, m, n), thread_id());
    auto const at =  // the row and column of each
        partition_c<mma>(local_tile<tile(bm, bn)>(identity_like(D), m, n), thread_id());
    TW_UNROLL
    for (int i = 0; i < 64; ++i) {
      int const row_by_row = 4 * (i % 32) + 2 * (i / 32), column_by_column = 4 * (i / 2) + i % 2;
      int const v = C.d_by_rows ? row_by_row : column_by_column;
      int const next = C.d_by_rows ? v + 1 : v + 2;  // its neighbour in memory, or 8 further
      bool const both = elem_less(at(next, 0, 0), p.m, p.n);
      if (C.pairs && both) {
        auto const pair = pack2<elem::bf16>(sums(v, 0, 0), sums(next, 0, 0));
        auto* const to = reinterpret_cast<std::uint32_t*>(&tD(v, 0, 0));
        if constexpr (C.streamed)
          store_streaming(to, pair);
        else
          *to = pair;
      } else {
        if (both) tD(next, 0, 0) = rounded(sums(next, 0, 0));
        if (elem_less(at(v, 0, 0), p.m, p.n)) tD(v, 0, 0) = rounded(sums(v, 0, 0));
      }
    }
  }
};

}  // namespace ladder
