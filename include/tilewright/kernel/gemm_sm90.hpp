// SPDX-License-Identifier: Apache-2.0
// gemm_sm90.hpp  The Hopper GEMM: D = alpha * A * B + beta * C. Persistent, warp-specialised, with
//                multicast in the cluster, a ring of operand stages and an epilogue that overlaps
//                the loads of the next tile. One source: nvcc makes it run, g++ emulates it.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/operand.hpp"
#include "tilewright/kernel/config.hpp"
#include "tilewright/kernel/epilogue.hpp"
#include "tilewright/kernel/params.hpp"
#include "tilewright/pipeline/order.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

template <gemm_config C>
struct gemm_sm90 {
  static constexpr int consumers = C.tile_m / 64;  // math warpgroups, 64 rows each
  static constexpr int threads = 128 * (1 + consumers);
  static constexpr int cluster = C.cluster_m * C.cluster_n;

  // Each CTA loads its share of the tiles it has in common with its peers, and multicasts it.
  using operand_a = operand_tile<C.ab, C.a_major(), swizzle_mode::b128>;
  using operand_b = operand_tile<C.ab, C.b_major(), swizzle_mode::b128>;
  static constexpr int a_share = C.tile_m / C.cluster_n;  // rows of A one CTA loads
  static constexpr int b_share = C.tile_n / C.cluster_m;  // columns of B one CTA loads
  static constexpr int a_bytes = C.tile_m * C.tile_k * size_bytes(C.ab);
  static constexpr int b_bytes = C.tile_n * C.tile_k * size_bytes(C.ab);

  static_assert(C.tile_m == 128, "[TW0203] two consumer warpgroups of 64 rows: tile M is 128");
  static_assert(C.tile_k == 64, "[TW0204] one 128-byte swizzle span of 16 bits each: tile K is 64");
  static_assert(C.tile_n % 64 == 0 && C.tile_n <= 256, "[TW0205] tile N is 64, 128, 192 or 256");

  struct smem {
    alignas(1024) std::byte a[C.stages][a_bytes];  // (128, 64) per stage, 128-byte swizzle
    alignas(1024) std::byte b[C.stages][b_bytes];  // (tile_n, 64) per stage
    epilogue_smem<consumers> d;
    mbarrier ab_landed[C.stages];
    mbarrier slot_free[C.stages];
  };
  static constexpr int smem_bytes = sizeof(smem);
  static_assert(smem_bytes <= 227 * 1024, "[TW0206] the stages need more than 227 KiB of smem");

  using params = gemm_params;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      for (int i = 0; i < C.stages; ++i) {
        s.ab_landed[i].init(1);
        s.slot_free[i].init(consumers * cluster);
      }
      fence_mbarrier_init();
    }
    cluster_sync();
    if (warpgroup_id() == 0) {
      set_max_regs_dec<40>();
      if (warp_id() == 0 && elect_one()) load(p, s);
    } else {
      set_max_regs_inc<232>();
      math(p, s, warpgroup_id() - 1);
    }
    cluster_sync();  // no CTA leaves while a peer may still write to it or signal it
  }

 private:
  /// The CTA's tile of cluster tile i, in units of CTA tiles.
  TW_DEVICE static tile_place tile_of(params const& p, int i) {
    tile_place const t = p.order.place(i);
    return {t.m * C.cluster_m + cluster_rank() % C.cluster_m,
            t.n * C.cluster_n + cluster_rank() / C.cluster_m};
  }

  /// Loads `Share` rows (of M or N, from `first`) of a K block into slot memory, for all of `mask`.
  template <class Operand, int Share>
  TW_DEVICE static void load_share(std::byte* slot, tensor_map const& map, mbarrier& landed,
                                   int first, int k, std::uint16_t mask) {
    TW_UNROLL
    for (int i = 0; i < Operand::boxes(Share); ++i) {
      auto const at = Operand::box_at(first, k, i);
      std::byte* box = slot + Operand::box_offset_bytes(Share, i);
      if constexpr (cluster > 1)
        tma_load_multicast(box, map, landed, at, mask);
      else
        tma_load(box, map, landed, at);
    }
  }

  TW_DEVICE static void load(params const& p, smem& s) {
    enter_role("load");
    int const rank_m = cluster_rank() % C.cluster_m, rank_n = cluster_rank() / C.cluster_m;
    auto const a_mask = static_cast<std::uint16_t>(row_of_ranks << rank_m);  // same tile of A
    auto const b_mask =
        static_cast<std::uint16_t>(((1 << C.cluster_m) - 1) << rank_n * C.cluster_m);
    ring<C.stages> slot;
    for (int i = cluster_id(); i < p.order.tiles(); i += cluster_count()) {
      tile_place const tile = tile_of(p, i);
      int const m = tile.m * C.tile_m + rank_n * a_share;  // first row of A to load
      int const n = tile.n * C.tile_n + rank_m * b_share;  // first column of B
      for (int k = 0; k < p.k_tiles; ++k, slot.next()) {
        s.slot_free[slot.stage].wait(slot.phase ^ 1U);
        mbarrier& landed = s.ab_landed[slot.stage];
        landed.arrive_expect_tx(a_bytes + b_bytes);
        load_share<operand_a, a_share>(s.a[slot.stage] + rank_n * (a_bytes / C.cluster_n), p.a,
                                       landed, m, k * C.tile_k, a_mask);  // (a_share, 64)
        load_share<operand_b, b_share>(s.b[slot.stage] + rank_m * (b_bytes / C.cluster_m), p.b,
                                       landed, n, k * C.tile_k, b_mask);  // (b_share, 64)
      }
    }
  }

  TW_DEVICE static void math(params const& p, smem& s, int consumer) {
    enter_role("math");
    ring<C.stages> slot;
    int turn = 0;  // the epilogue's next staging box
    for (int i = cluster_id(); i < p.order.tiles(); i += cluster_count()) {
      accumulator<C.tile_n> acc;  // (64, tile_n)
      int held = 0;               // the stage whose wgmma group may still be in flight
      for (int k = 0; k < p.k_tiles; ++k, slot.next()) {
        s.ab_landed[slot.stage].wait(slot.phase);
        multiply(acc, s.a[slot.stage], s.b[slot.stage], consumer, k > 0);
        wgmma_wait<1>(acc);  // the group before this one has finished: its stage is free
        if (k > 0) release(s, held);
        held = slot.stage;
      }
      wgmma_wait<0>(acc);
      release(s, held);
      tile_place const tile = tile_of(p, i);
      epilogue<C.d>::store(p.epilogue, s.d, consumer, tile.m * C.tile_m + 64 * consumer,
                           tile.n * C.tile_n, acc, turn);
    }
    epilogue<C.d>::finish();
  }

  /// One K block as a wgmma group: acc (64, tile_n) += A (64, 64) * B (tile_n, 64)^T.
  TW_DEVICE static void multiply(accumulator<C.tile_n>& acc, std::byte* a, std::byte* b,
                                 int consumer, bool accumulate) {
    wgmma_fence(acc);
    TW_UNROLL
    for (int k = 0; k < C.tile_k; k += 16)
      wgmma<C.ab, C.a_major(), C.b_major()>(
          acc, operand_a::desc(smem_addr(a), a_share, 64 * consumer, k),
          operand_b::desc(smem_addr(b), b_share, 0, k), accumulate || k > 0);
    wgmma_commit();
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
