// SPDX-License-Identifier: Apache-2.0
// gemm_sm90.hpp  The Hopper GEMM: D = alpha * A * B + beta * C, or a fused epilogue. Persistent,
// warp-specialised, with
//                multicast in the cluster, a ring of operand stages and an epilogue that overlaps
//                the loads of the next tile. One source: nvcc makes it run, g++ emulates it.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/operand.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/config.hpp"
#include "tilewright/kernel/epilogue.hpp"
#include "tilewright/kernel/fixup.hpp"
#include "tilewright/kernel/params.hpp"
#include "tilewright/pipeline/order.hpp"
#include "tilewright/pipeline/ring.hpp"
#include "tilewright/pipeline/work.hpp"

namespace tw {

template <gemm_config C>
struct gemm_sm90 {
  static constexpr int consumers = C.math_warpgroups();
  static constexpr int fragments = C.fragments();  // of 64 rows, per math warpgroup
  static constexpr int threads = 128 * (1 + consumers);
  static constexpr int cluster = C.cluster();
  static constexpr int tile_k = C.tile_k;

  // Each CTA loads its share of the tiles it has in common with its peers, and multicasts it.
  using operand_a = operand_tile<C.ab, C.a_major(), swizzle_mode::b128>;
  using operand_b = operand_tile<C.ab, C.b_major(), swizzle_mode::b128>;
  static constexpr int a_share = C.tile_m / C.cluster_n;  // rows of A one CTA loads
  static constexpr int b_share = C.tile_n / C.cluster_m;  // columns of B one CTA loads
  static constexpr int a_bytes = C.tile_m * tile_k * size_bytes(C.ab);
  static constexpr int b_bytes = C.tile_n * tile_k * size_bytes(C.ab);

  static_assert((C.tile_m == 64 || C.tile_m == 128 || C.tile_m == 192 || C.tile_m == 256) &&
                    fragments <= 2,
                "[TW0203] tile M is 64, 128, 192 or 256; 64 or 128 in ping-pong");
  static_assert(C.tile_n % 8 == 0 && C.tile_n <= 256 && fragments * C.tile_n <= 416,
                "[TW0205] tile N is a multiple of 8, up to 256 and 208 accumulators per thread");
  static_assert(a_share % (C.a_mn ? 64 : 8) == 0 && b_share % (C.b_mn ? 64 : 8) == 0,
                "[TW0209] a CTA loads whole groups of 8 rows, 64 of an MN-major operand");
  static_assert(!C.gated() || (!C.b_mn && b_share % 16 == 0),
                "[TW0209] a CTA loads whole groups of 8 gate and 8 up columns, K-major");

  struct smem {
    alignas(1024) std::byte a[C.stages][a_bytes];  // (tile_m, 64) per stage, 128-byte swizzle
    alignas(1024) std::byte b[C.stages][b_bytes];  // (tile_n, 64) per stage
    epilogue_smem<C> d;
    mbarrier ab_landed[C.stages];
    mbarrier slot_free[C.stages];
    fixup_smem fix;
  };
  static constexpr int smem_bytes = sizeof(smem);
  static_assert(smem_bytes <= 227 * 1024, "[TW0206] the stages need more than 227 KiB of smem");

  using params = gemm_params;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      for (int i = 0; i < C.stages; ++i) {
        s.ab_landed[i].init(2);  // A and B have a loading warp each
        s.slot_free[i].init((C.pingpong ? 1 : consumers) * cluster);
      }
      fence_mbarrier_init();
    }
    if (thread_id() == 32) {
      tma_prefetch_map(p.a);
      tma_prefetch_map(p.b);
      if (p.epilogue.tma_end > 0) tma_prefetch_map(p.epilogue.d);
    }
    meet();
    grid_dependency_wait();  // operands, D and the workspace may be the launch before's until here
    if (warpgroup_id() == 0) {
      if constexpr (consumers > 1) set_max_regs_dec<load_regs>();
      if (warp_id() == 0 && elect_one()) load_a(p, s);
      if (warp_id() == 1 && elect_one()) load_b(p, s);
    } else {
      if constexpr (consumers > 1) set_max_regs_inc<math_regs>();
      math(p, s, warpgroup_id() - 1);
    }
    if constexpr (cluster > 1) cluster_sync();  // a peer may still write to this CTA or signal it
  }

 private:
  /// Ping-pong: barriers my_turn + w let warpgroup w into its main loop once the other has met all
  /// stages of its own; the parity of a stage cannot tell turns of the ring further apart.
  static constexpr int my_turn = 5;

  // 168 registers for each of 384 threads, 128 for 512: what the loading warpgroup gives back.
  static constexpr int load_regs = consumers == 3 ? 32 : 40;
  static constexpr int math_regs = consumers == 3 ? 160 : 232;

  TW_DEVICE static void meet() {
    if constexpr (cluster > 1)
      cluster_sync();
    else
      cta_sync();
  }

  /// The CTA's tile of a cluster tile, in units of CTA tiles.
  TW_DEVICE static tile_place tile_of(params const& p, int cluster_tile) {
    tile_place const t = p.order.place(cluster_tile);
    return {t.m * C.cluster_m + cluster_rank() % C.cluster_m,
            t.n * C.cluster_n + cluster_rank() / C.cluster_m, t.batch};
  }

  /// Where an operand comes from (gemm_params): one map, or a map for each product of a batch.
  /// with: maps of another operand that this role acquires too, for others of the CTA.
  struct source {
    tensor_map const& map;
    tensor_map const* maps;
    int batched;
    tensor_map const* with;
  };

  /// Coordinates in an operand's tensor map: (contiguous, other, batch), or of gate and up columns
  /// (k, 8 columns, gate or up, groups, batch).
  struct plain_map {
    TW_DEVICE static tma_coord<3> at(tma_coord<2> x, int batch) {
      return {{x.c[0], x.c[1], batch}};
    }
  };
  struct gated_map {
    TW_DEVICE static tma_coord<5> at(tma_coord<2> x, int batch) {
      return {{x.c[0], 0, 0, x.c[1] / 16, batch}};
    }
  };

  /// Loads one operand's part of every K block: `Share` rows (of M or N) of the CTA's tiles into
  /// slots of slot_bytes, for all CTAs of `mask`. first_row(tile): where the share starts.
  template <class Operand, int Share, class Map = plain_map, class FirstRow>
  TW_DEVICE static void load(params const& p, smem& s, source from, std::byte* slots,
                             int slot_bytes, std::uint16_t mask, FirstRow first_row) {
    ring<C.stages> slot;
    work_list work(p.work, cluster_id());
    int acquired = -1;  // the product whose map may be used
    for (segment seg{}; work.next(p.work, cluster_count(), seg);) {
      tile_place const tile = tile_of(p, seg.tile);
      int const first = first_row(tile), matrix = from.batched * tile.batch;
      auto const load_tile = [&](tensor_map const& map) {
        for (int k = seg.k_begin; k < seg.k_end; ++k, slot.next()) {
          s.slot_free[slot.stage].wait(slot.phase ^ 1U);
          mbarrier& landed = s.ab_landed[slot.stage];
          landed.arrive_expect_tx(slot_bytes);
          TW_UNROLL
          for (int i = 0; i < Operand::boxes(Share); ++i) {
            auto const in_matrix = Operand::box_at(first, k * tile_k, i);
            auto const at = Map::at(in_matrix, matrix);
            std::byte* box = slots + slot.stage * slot_bytes + Operand::box_offset_bytes(Share, i);
            if constexpr (cluster > 1)
              tma_load_multicast(box, map, landed, at, mask);
            else
              tma_load(box, map, landed, at);
          }
        }
      };
      if constexpr (!C.by_pointers()) {
        load_tile(from.map);
        continue;
      }
      if (tile.batch != acquired) {
        if (from.maps != nullptr) tensor_map_acquire(from.maps[tile.batch]);
        if (from.with != nullptr) tensor_map_acquire(from.with[tile.batch]);
        acquired = tile.batch;
      }
      if (from.maps == nullptr)
        load_tile(from.map);  // a loop of its own: this map is a constant
      else
        load_tile(from.maps[tile.batch]);
    }
  }

  TW_DEVICE static void load_a(params const& p, smem& s) {
    enter_role("load A");
    int const rank_m = cluster_rank() % C.cluster_m, rank_n = cluster_rank() / C.cluster_m;
    load<operand_a, a_share>(  // (a_share, 64) for the CTAs with the same rows
        p, s, {p.a, p.a_maps, p.a_batched, p.epilogue.d_maps},
        s.a[0] + rank_n * (a_bytes / C.cluster_n), a_bytes,
        static_cast<std::uint16_t>(row_of_ranks << rank_m),
        [&](tile_place t) { return t.m * C.tile_m + rank_n * a_share; });
    grid_dependents_launch();  // all loads are under way: the next launch may begin to set up
  }
  TW_DEVICE static void load_b(params const& p, smem& s) {
    enter_role("load B");
    int const rank_m = cluster_rank() % C.cluster_m, rank_n = cluster_rank() / C.cluster_m;
    using map = std::conditional_t<C.gated(), gated_map, plain_map>;
    load<operand_b, b_share, map>(  // (b_share, 64) for the CTAs with the same columns
        p, s, {p.b, p.b_maps, p.b_batched, nullptr}, s.b[0] + rank_m * (b_bytes / C.cluster_m),
        b_bytes, static_cast<std::uint16_t>(((1 << C.cluster_m) - 1) << rank_n * C.cluster_m),
        [&](tile_place t) { return t.n * C.tile_n + rank_m * b_share; });
  }

  TW_DEVICE static void math(params const& p, smem& s, int consumer) {
    enter_role("math");
    int const first_row = C.pingpong ? 0 : C.warpgroup_m() * consumer;  // in the CTA's tile
    ring<C.stages> slot;
    int turn = 0;  // the epilogue's next staging strip
    bool mine = !C.pingpong || consumer == 0;
    if (!mine) named_barrier_arrive(my_turn, 256);  // the first tile is warpgroup 0's
    work_list work(p.work, cluster_id());
    for (segment seg{}; work.next(p.work, cluster_count(), seg); mine = !C.pingpong || !mine) {
      if (!mine) {
        slot.skip(seg.k_end - seg.k_begin);
        continue;
      }
      if constexpr (C.pingpong) named_barrier_sync(my_turn + consumer, 256);
      accumulator<C.tile_n> acc[fragments];  // (64, tile_n) each
      int held = 0;                          // the stage whose wgmma group may still be in flight
      for (int k = seg.k_begin; k < seg.k_end; ++k, slot.next()) {
        s.ab_landed[slot.stage].wait(slot.phase);
        multiply(acc, s.a[slot.stage], s.b[slot.stage], first_row, k > seg.k_begin);
        wait<1>(acc);  // the group before this one has finished: its stage is free
        if (k > seg.k_begin) release(s, held);
        held = slot.stage;
      }
      if (C.pingpong && !work.at_end(p.work)) named_barrier_arrive(my_turn + 1 - consumer, 256);
      wait<0>(acc);
      release(s, held);
      if (seg.k_end - seg.k_begin < p.work.k_tiles && !fixup<C>::add(p, s.fix, seg, consumer, acc))
        continue;
      tile_place const tile = tile_of(p, seg.tile);
      unrolled<fragments>([&](auto f) {
        fragment_place const at{tile.m * C.tile_m + first_row + 64 * f, tile.n * C.d_cols(),
                                tile.batch};
        epilogue<C>::store(p.epilogue, s.d, consumer, at, acc[f], turn);
      });
    }
    epilogue<C>::finish();
  }

  using accumulators = accumulator<C.tile_n>[fragments];

  /// One K block as a wgmma group: each acc (64, tile_n) += A (64, 64) * B (tile_n, 64)^T.
  TW_DEVICE static void multiply(accumulators& acc, std::byte* a, std::byte* b, int first_row,
                                 bool accumulate) {
    if constexpr (fragments == 1)
      wgmma_fence(acc[0]);
    else
      wgmma_fence(acc[0], acc[1]);
    smem_desc const a_desc = operand_a::desc(smem_addr(a), a_share, first_row, 0);
    smem_desc const b_desc = operand_b::desc(smem_addr(b), b_share, 0, 0);
    TW_UNROLL
    for (int k = 0; k < tile_k; k += 16)
      unrolled<fragments>([&](auto f) {
        wgmma<C.ab, C.a_major(), C.b_major()>(
            acc[f], a_desc + operand_a::start_bytes(a_share, 64 * f, k),
            b_desc + operand_b::start_bytes(b_share, 0, k), accumulate || k > 0);
      });
    wgmma_commit();
  }

  template <int Pending>
  TW_DEVICE static void wait(accumulators& acc) {
    if constexpr (fragments == 1)
      wgmma_wait<Pending>(acc[0]);
    else
      wgmma_wait<Pending>(acc[0], acc[1]);
  }

  /// Tells every CTA that loads into this slot that this warpgroup has read it. Relaxed: nothing
  /// was written, and the reads are complete since wgmma_wait (docs/decisions/0004).
  TW_DEVICE static void release(smem& s, int stage) {
    int const t = thread_id() % 128;
    if constexpr (cluster == 1) {
      if (t == 0) s.slot_free[stage].arrive();
    } else {
      if (t < cluster) s.slot_free[stage].arrive_remote_relaxed(t);
    }
  }

  /// Bit r for every rank r = 0, cluster_m, 2 * cluster_m, ... of the cluster.
  static constexpr int row_of_ranks = [] {
    int mask = 0;
    for (int n = 0; n < C.cluster_n; ++n) mask |= 1 << (n * C.cluster_m);
    return mask;
  }();
};

}  // namespace tw
