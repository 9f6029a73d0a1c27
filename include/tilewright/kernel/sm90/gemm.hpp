// SPDX-License-Identifier: Apache-2.0
// gemm.hpp  The Hopper GEMM: D = alpha * A * B + beta * C, or a fused epilogue. Persistent,
//                warp-specialised, with multicast in the cluster, a ring of operand stages and an
//                epilogue that overlaps the loads of the next tile. One source: nvcc makes it run,
//                g++ emulates it.
#pragma once

#include <type_traits>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/epilogue/store.hpp"
#include "tilewright/kernel/sm90/cluster_sum.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/fixup.hpp"
#include "tilewright/kernel/sm90/loads.hpp"
#include "tilewright/kernel/sm90/params.hpp"
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
  static constexpr int loaders = gemm_loads<C>::loaders;  // CTAs that fill each other's slots
  static constexpr int tile_k = C.tile_k();

  using tiles = gemm_tiles<C>;
  using loads = gemm_loads<C>;
  using operand_a = typename loads::operand_a;
  using operand_b = typename loads::operand_b;
  static constexpr int a_share = loads::a_share, b_share = loads::b_share;

  static_assert((C.tile_m == 64 || C.tile_m == 128 || C.tile_m == 192 || C.tile_m == 256) &&
                    fragments <= 2,
                "[TW0203] tile M is 64, 128, 192 or 256; 64 or 128 in ping-pong");
  static_assert(C.tile_n % 8 == 0 && C.tile_n <= 256 && fragments * C.tile_n <= 416,
                "[TW0205] tile N is a multiple of 8, up to 256 and 208 "
                "accumulators per thread");
  static_assert(!C.narrows() || (C.least_n % 8 == 0 && C.least_n > 0 && C.least_n < C.tile_n),
                "[TW0205] the narrowest tile has a multiple of 8 columns, "
                "fewer than tile N");
  static_assert(!C.narrows() || (C.cluster_m == 1 && C.cluster_k == 1 && !C.b_mn && C.d_m &&
                                 C.fused == fusion::none),
                "[TW0204] tiles narrow where no peer needs the same columns, B is K-major "
                "and D M-major");
  static_assert(C.cluster_k == 1 || loaders == 1, "[TW0204] a cluster shares K or loads, not both");
  static_assert(C.cluster_k == 1 || !C.pingpong, "[TW0204] no ping-pong where a cluster shares K");
  static_assert(C.cluster_k == 1 || C.fused == fusion::none,
                "[TW0204] no fused epilogue where a cluster shares K");
  using k_smem = typename cluster_sum<C>::smem;

  struct smem {
    alignas(1024) std::byte a[C.stages][loads::a_bytes];  // (tile_m, 64) each, 128-byte swizzle
    alignas(1024) std::byte b[C.stages][loads::b_bytes];  // (tile_n, 64) each
    epilogue_smem<C> d;
    mbarrier ab_landed[C.stages];
    mbarrier slot_free[C.stages];
    fixup_smem fix;
    int touched[2];
    [[no_unique_address]] k_smem k;
  };
  static constexpr int smem_bytes = sizeof(smem);
  static_assert(staging_of(C).group > 0 && smem_bytes <= 227 * 1024,
                "[TW0206] the stages and a staging buffer need more than 227 KiB of smem");

  using params = gemm_params;
  using work_of_cta = std::conditional_t<C.shares_tiles(), work_list, whole_tiles>;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 32) {
      for (int i = 0; i < C.stages; ++i) {
        s.ab_landed[i].init(1);
        s.slot_free[i].init((C.pingpong ? 1 : consumers) * loaders);
      }
      if constexpr (C.cluster_k > 1) cluster_sum<C>::init(s.k);
      fence_mbarrier_init();
    }
    if (thread_id() == 64) {
      tma_prefetch_map(p.a);
      tma_prefetch_map(p.b);
      if (p.m % a_share != 0) tma_prefetch_map(p.a_edge);
      if (p.n % b_share != 0) tma_prefetch_map(p.b_edge);
      if (p.epilogue.tma_end > 0) tma_prefetch_map(p.epilogue.d);
    }
    if (thread_id() == 96) touch(p, s);
    if (warpgroup_id() == 0) {
      if constexpr (consumers > 1) set_max_regs_dec<load_regs>();
      if (warp_id() == 0) {
        load(p, s);
        if constexpr (cluster > 1) warp_sync();  // one lane has loaded, the others came ahead
      } else {
        begin();
      }
    } else {
      if constexpr (consumers > 1) set_max_regs_inc<math_regs>();
      math(p, s, warpgroup_id() - 1);
    }
    if constexpr (cluster > 1) cluster_sync();  // a peer may still write to this CTA or signal it
  }

 private:
  template <int Cols>
  using accumulators = accumulator<Cols>[fragments];

  /// Ping-pong: barriers my_turn + w let warpgroup w into its main loop once the other has waited
  /// for all of its stages; the parity of a stage does not distinguish turns of the ring further
  /// apart.
  static constexpr int my_turn = 5;

  // 168 registers for each of 384 threads, 128 for 512: what the loading warpgroup gives back.
  static constexpr int load_regs = consumers == 3 ? 32 : 40;
  static constexpr int math_regs = consumers == 3 ? 160 : 232;

  /// Brings the parameters that the epilogue reads to the constant cache, where they would be
  /// missed at the end of the main loop: 0.2 us (docs/decisions/0018).
  TW_DEVICE static void touch(params const& p, smem& s) {
    epilogue_params const& e = p.epilogue;
    s.touched[1] = e.tma_end ^ e.m ^ static_cast<int>(e.pitch) ^ static_cast<int>(e.c.row_stride) ^
                   static_cast<int>(e.fused.act) ^ p.fixup.counters;
  }

  /// Waits until the mbarriers are initialised and, with PDL, until operands, D and workspace are
  /// no longer those of the launch before.
  TW_DEVICE static void begin() {
    if constexpr (cluster > 1)
      cluster_sync();
    else
      cta_sync();
    grid_dependency_wait();
  }

  /// Fills the ring: of each K block a_share rows of A and b_share columns of B, for all CTAs that
  /// need them. One thread: two take 0.3 % of a large GEMM (docs/decisions/0013). Where the
  /// first tile is, its warp finds out while others set up (0029).
  TW_DEVICE static void load(params const& p, smem& s) {
    enter_role("load");
    s.touched[0] = p.work.tiles ^ p.m;  // two lines of the constant cache, missed side by side
    work_of_cta work(p.work, tiles::own_cluster());
    segment seg{};
    bool more = work.next(p.work, tiles::clusters(), seg);
    typename loads::tile_loads t = loads::loads_of(p, seg);
    begin();
    if (!elect_one()) return;
    ring<C.stages> slot;
    for (; more; more = work.next(p.work, tiles::clusters(), seg), t = loads::loads_of(p, seg)) {
      tensor_map const& map_a = t.part.a_mine == a_share ? p.a : p.a_edge;
      tensor_map const& map_b = t.part.b_mine == loads::b_most(p) ? p.b : p.b_edge;
      int const a_batch = p.a_batched * t.batch, b_batch = p.b_batched * t.batch;
      if constexpr (C.by_pointers()) {
        if (p.by_pointers != 0) {
          loads::load_tile(p, s, slot, t, t.part, map_a, map_b,
                           matrix_place(p.a_matrices, t.batch, a_batch),
                           matrix_place(p.b_matrices, t.batch, b_batch));
          continue;
        }
      }
      if (t.part.a_rows == C.tile_m && t.part.b_rows == C.tile_n)
        // Separate functions: the maps are constants.
        loads::load_tile(p, s, slot, t, typename loads::whole_tile{}, p.a, p.b, a_batch, b_batch);
      else
        loads::load_tile(p, s, slot, t, t.part, map_a, map_b, a_batch, b_batch);
    }
    grid_dependents_launch();  // all loads are under way: the next launch may begin to set up
  }

  /// Kernels with few accumulators have registers for the tile's place during the main loop.
  static constexpr bool place_first = fragments * C.tile_n <= 128 && C.fused == fusion::none;

  /// A warpgroup all of whose rows are below D multiplies nothing: the power that it saves is the
  /// other SMs' clock (docs/decisions/0025). In small tiles the question costs more than that.
  static constexpr bool may_skip = !C.pingpong && C.cluster_k == 1 && C.tile_m >= 192;

  TW_DEVICE static bool is_below(params const& p, int cluster_tile, int first_row) {
    return warp_uniform(tiles::tile_of(p, cluster_tile).m) * C.tile_m + first_row >= p.m;
  }

  /// Frees the stages of `blocks` K blocks as they land. One thread waits and signals all CTAs:
  /// another could sleep while a stage is filled again, where those that fill it do not wait for
  /// that thread. It must not run ahead either: the parity of a stage cannot tell turns of the ring
  /// further apart.
  TW_DEVICE static void pass(smem& s, int consumer, ring<C.stages>& slot, int blocks) {
    if (thread_id() % 128 == 0) {
      ring<C.stages> at = slot;
      for (int k = 0; k < blocks; ++k, at.next()) {
        s.ab_landed[at.stage].wait(at.phase);
        TW_UNROLL
        for (int cta = 0; cta < loaders; ++cta) release_to(s, at.stage, cta);
      }
    }
    named_barrier_sync(1 + consumer, 128);
    slot.skip(blocks);
  }

  TW_DEVICE static void math(params const& p, smem& s, int consumer) {
    enter_role("math");
    begin();
    int const first_row = C.pingpong ? 0 : C.warpgroup_m() * consumer;  // in the CTA's tile
    ring<C.stages> slot;
    int turn = 0;  // of the epilogue's staging buffers
    ring<1> sums;  // of the cluster
    bool mine = !C.pingpong || consumer == 0;
    if (!mine) named_barrier_arrive(my_turn, 256);  // the first tile is warpgroup 0's
    work_of_cta work(p.work, tiles::own_cluster());
    for (segment seg{}; work.next(p.work, tiles::clusters(), seg); mine = !C.pingpong || !mine) {
      if (!mine) {
        slot.skip(seg.k_end - seg.k_begin);
        continue;
      }
      if constexpr (C.pingpong) named_barrier_sync(my_turn + consumer, 256);
      if constexpr (may_skip) {
        if (p.m % C.tile_m != 0 && is_below(p, seg.tile, first_row)) {
          pass(s, consumer, slot, warp_uniform(seg.k_end - seg.k_begin));
          continue;
        }
      }
      tile_place tile{};
      if constexpr (place_first) {  // while the first loads fly
        tile = tiles::tile_of(p, seg.tile);
        tile = {warp_uniform(tile.m), warp_uniform(tile.n), warp_uniform(tile.batch)};
      }
      fixup_place meeting{};
      if constexpr (C.shares_tiles() && place_first) meeting = fixup<C>::place_of(p, seg, consumer);
      accumulators<C.tile_n> acc;  // (64, tile_n) each
      auto const part = tiles::part_of(seg);
      int const blocks = warp_uniform(part.end - part.begin);
      auto const others_turn = [&] {
        if (C.pingpong && !work.at_end(p.work)) named_barrier_arrive(my_turn + 1 - consumer, 256);
      };
      if constexpr (C.narrows())
        add_narrow<C.tile_n>(p, s, slot, first_row, blocks, acc, others_turn);
      else
        add_blocks(s, slot, first_row, blocks, acc, others_turn);
      if constexpr (C.cluster_k > 1) {
        typename cluster_sum<C>::sum total;  // (64, part_n) each
        if (cluster_sum<C>::add(s.k, consumer, acc, total, sums, !work.at_end(p.work)))
          finish(p, s, consumer, seg, meeting, tile, first_row, total, turn);
      } else {
        finish(p, s, consumer, seg, meeting, tile, first_row, acc, turn);
      }
    }
    epilogue<C>::finish();
  }

  /// acc = the sum over `blocks` K blocks; `issued` is called when all wgmmas have been issued.
  template <int Cols, class Issued>
  TW_DEVICE static void add_blocks(smem& s, ring<C.stages>& slot, int first_row, int blocks,
                                   accumulators<Cols>& acc, Issued issued) {
    int held = 0;  // the stage whose wgmma group may still be in flight
    if constexpr (C.cluster_k > 1) clear(acc);
    if constexpr (C.cluster_k == 1) {  // the first block does not read the accumulators
      s.ab_landed[slot.stage].wait(slot.phase);
      multiply(acc, s.a[slot.stage], s.b[slot.stage], first_row, false);
      held = slot.stage;
      slot.next();
    }
    TW_UNROLL_BY_2  // by 4, as nvcc does by itself, takes twice as long to compile
        for (int k = C.cluster_k == 1 ? 1 : 0; k < blocks; ++k, slot.next()) {
      s.ab_landed[slot.stage].wait(slot.phase);
      multiply(acc, s.a[slot.stage], s.b[slot.stage], first_row, true);
      wait<1>(acc);  // the group before this one has finished: its stage is free
      if (k > 0) release(s, held);
      held = slot.stage;
    }
    issued();
    wait<0>(acc);
    if (C.cluster_k == 1 || blocks > 0) release(s, held);
  }

  /// The same for the launch's tile_cols() columns: a main loop for each number of them, `Cols` and
  /// below. Later elements of acc are not stored.
  template <int Cols, class Issued>
  TW_DEVICE static void add_narrow(params const& p, smem& s, ring<C.stages>& slot, int first_row,
                                   int blocks, accumulators<C.tile_n>& acc, Issued issued) {
    if (Cols == C.least_n || p.tile_cols == Cols) {
      accumulators<Cols> narrow;
      add_blocks(s, slot, first_row, blocks, narrow, issued);
      unrolled<fragments>([&](auto f) {
        TW_UNROLL
        for (int i = 0; i < acc[f].size; ++i) acc[f][i] = i < narrow[f].size ? narrow[f][i] : 0;
      });
    } else if constexpr (Cols > C.least_n) {
      add_narrow<Cols - 8>(p, s, slot, first_row, blocks, acc, issued);
    }
  }

  /// Stores a warpgroup's fragments, whose first row in the tile is first_row; those of a shared
  /// tile once all parts are there.
  template <class Fragments>
  TW_DEVICE static void finish(params const& p, smem& s, int consumer, segment const& seg,
                               fixup_place meeting, tile_place tile, int first_row, Fragments& acc,
                               int& turn) {
    if constexpr (C.shares_tiles()) {
      if constexpr (!place_first) meeting = fixup<C>::place_of(p, seg, consumer);
      if (meeting.parts > 1 && !fixup<C>::add(s.fix, meeting, consumer, acc[0])) return;
    }
    if constexpr (!place_first) tile = tiles::tile_of(p, seg.tile);
    int const owner = C.cluster_k > 1 ? cluster_rank() : 0;
    int const col = C.narrows() ? tile.n * p.tile_cols : (tile.n * C.owners() + owner) * C.d_cols();
    fragment_place const at{tile.m * C.tile_m + first_row, col, tile.batch};
    epilogue<C>::store(p.epilogue, s.d, consumer, at, acc, turn);
  }

  /// One K block as a wgmma group: each acc (64, Cols) += A (64, 64) * B (Cols, 64)^T.
  template <int Cols>
  TW_DEVICE static void multiply(accumulators<Cols>& acc, std::byte* a, std::byte* b, int first_row,
                                 bool accumulate) {
    if constexpr (fragments == 1)
      wgmma_fence(acc[0]);
    else
      wgmma_fence(acc[0], acc[1]);
    smem_desc const a_desc = operand_a::desc(smem_addr(a), a_share, first_row, 0);
    smem_desc const b_desc = operand_b::desc(smem_addr(b), b_share, 0, 0);
    TW_UNROLL
    for (int k = 0; k < tile_k; k += traits_of(C.ab).mma_k())
      unrolled<fragments>([&](auto f) {
        wgmma<C.ab, C.a_major(), C.b_major()>(
            acc[f], a_desc + operand_a::start_bytes(a_share, 64 * f, k),
            b_desc + operand_b::start_bytes(b_share, 0, k), accumulate || k > 0);
      });
    wgmma_commit();
  }

  template <int Cols>
  TW_DEVICE static void clear(accumulators<Cols>& acc) {
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int i = 0; i < acc[f].size; ++i) acc[f][i] = 0;
    });
  }

  template <int Pending, int Cols>
  TW_DEVICE static void wait(accumulators<Cols>& acc) {
    if constexpr (fragments == 1)
      wgmma_wait<Pending>(acc[0]);
    else
      wgmma_wait<Pending>(acc[0], acc[1]);
  }

  /// Signals every CTA that loads into this slot that this warpgroup has read it. Relaxed: nothing
  /// was written, and the reads are complete since wgmma_wait (docs/decisions/0004).
  TW_DEVICE static void release(smem& s, int stage) {
    int const t = thread_id() % 128;
    if (t < loaders) release_to(s, stage, t);
  }
  TW_DEVICE static void release_to(smem& s, int stage, int cta) {
    if constexpr (loaders == 1)
      s.slot_free[stage].arrive();
    else
      s.slot_free[stage].arrive_remote_relaxed(cta);
  }
};

}  // namespace tw
