// SPDX-License-Identifier: Apache-2.0
// gemm_sm90.hpp  The Hopper GEMM: D = alpha * A * B + beta * C, or a fused epilogue. Persistent,
//                warp-specialised, with multicast in the cluster, a ring of operand stages and an
//                epilogue that overlaps the loads of the next tile. One source: nvcc makes it run,
//                g++ emulates it.
#pragma once

#include <type_traits>

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/operand.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/cluster_sum.hpp"
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
  static constexpr int loaders = C.cluster_m * C.cluster_n;  // CTAs that fill each other's slots
  static constexpr int tile_k = C.tile_k;

  // Each CTA loads its share of the tiles it has in common with its peers, and multicasts it.
  using operand_a = operand_tile<C.ab, C.a_major(), swizzle_mode::b128>;
  using operand_b = operand_tile<C.ab, C.b_major(), C.b_swizzle()>;
  static constexpr int a_share = C.tile_m / C.cluster_n;  // rows of A one CTA loads
  static constexpr int b_share = C.tile_n / C.cluster_m;  // columns of B one CTA loads
  static constexpr int a_bytes = C.tile_m * tile_k * size_bytes(C.ab);
  static constexpr int b_bytes = C.tile_n * tile_k * size_bytes(C.ab);

  static_assert((C.tile_m == 64 || C.tile_m == 128 || C.tile_m == 192 || C.tile_m == 256) &&
                    fragments <= 2,
                "[TW0203] tile M is 64, 128, 192 or 256; 64 or 128 in ping-pong");
  static_assert(C.tile_n % 8 == 0 && C.tile_n <= 256 && fragments * C.tile_n <= 416,
                "[TW0205] tile N is a multiple of 8, up to 256 and 208 accumulators per thread");
  static_assert(C.cluster_k == 1 || loaders == 1, "[TW0204] a cluster shares K or loads, not both");
  static_assert(C.cluster_k == 1 || !C.pingpong, "[TW0204] no ping-pong where a cluster shares K");
  static_assert(C.cluster_k == 1 || C.fused == fusion::none,
                "[TW0204] no fused epilogue where a cluster shares K");
  static_assert(a_share % (C.a_mn ? 64 : 8) == 0 && b_share % (C.b_mn ? 32 : 8) == 0,
                "[TW0209] a CTA loads whole groups of 8 rows, 64 of an MN-major A, 32 of such a B");
  static_assert(!C.gated() || (!C.b_mn && b_share % 16 == 0),
                "[TW0209] a CTA loads whole groups of 8 gate and 8 up columns, K-major");

  using k_smem = typename cluster_sum<C>::smem;

  struct smem {
    alignas(1024) std::byte a[C.stages][a_bytes];  // (tile_m, 64) per stage, 128-byte swizzle
    alignas(1024) std::byte b[C.stages][b_bytes];  // (tile_n, 64) per stage
    epilogue_smem<C> d;
    mbarrier ab_landed[C.stages];
    mbarrier slot_free[C.stages];
    fixup_smem fix;
    int touched;
    [[no_unique_address]] k_smem k;
  };
  static constexpr int smem_bytes = sizeof(smem);
  static_assert(staging_of(C).group > 0 && smem_bytes <= 227 * 1024,
                "[TW0206] the stages and a staging strip need more than 227 KiB of smem");

  using params = gemm_params;
  using work_of_cta = std::conditional_t<C.shares_tiles(), work_list, whole_tiles>;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      for (int i = 0; i < C.stages; ++i) {
        s.ab_landed[i].init(1);
        s.slot_free[i].init((C.pingpong ? 1 : consumers) * loaders);
      }
      if constexpr (C.cluster_k > 1) cluster_sum<C>::init(s.k);
      fence_mbarrier_init();
    }
    if (thread_id() == 32) {
      tma_prefetch_map(p.a);
      tma_prefetch_map(p.b);
      if (p.m % a_share != 0) tma_prefetch_map(p.a_edge);
      if (p.n % b_share != 0) tma_prefetch_map(p.b_edge);
      if (p.epilogue.tma_end > 0) tma_prefetch_map(p.epilogue.d);
    }
    if (thread_id() == 64) touch(p, s);
    meet();
    grid_dependency_wait();  // operands, D and the workspace may be the launch before's until here
    if (warpgroup_id() == 0) {
      if constexpr (consumers > 1) set_max_regs_dec<load_regs>();
      if (warp_id() == 0 && elect_one()) load(p, s);
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

  /// Brings the parameters that the epilogue reads to the constant cache, where they would be
  /// missed at the end of the main loop: 0.2 us (docs/decisions/0018).
  TW_DEVICE static void touch(params const& p, smem& s) {
    epilogue_params const& e = p.epilogue;
    s.touched = e.tma_end ^ e.m ^ static_cast<int>(e.pitch) ^ static_cast<int>(e.c.row_stride) ^
                static_cast<int>(e.fused.act) ^ p.fixup.counters;
  }

  TW_DEVICE static void meet() {
    if constexpr (cluster > 1)
      cluster_sync();
    else
      cta_sync();
  }

  /// The CTA's tile of a cluster tile, in units of CTA tiles.
  TW_DEVICE static tile_place tile_of(params const& p, int cluster_tile) {
    tile_place const t = p.walk.place(cluster_tile);
    return {t.m * C.cluster_m + cluster_rank() % C.cluster_m,
            t.n * C.cluster_n + cluster_rank() / C.cluster_m % C.cluster_n, t.batch};
  }

  /// Coordinates in an operand's tensor map: (contiguous, other, batch), of a batch by pointers
  /// (contiguous, other, place), or of gate and up columns (k, 8 columns, gate or up, groups,
  /// batch).
  struct plain_map {
    TW_DEVICE static tma_coord<3> at(tma_coord<2> x, int batch) {
      return {{x.c[0], x.c[1], batch}};
    }
    TW_DEVICE static tma_coord<4> at(tma_coord<2> x, tma_place matrix) {
      return {{x.c[0], x.c[1], matrix.units, matrix.spans}};
    }
  };
  struct gated_map {
    TW_DEVICE static tma_coord<5> at(tma_coord<2> x, int batch) {
      return {{x.c[0], 0, 0, x.c[1] / 16, batch}};
    }
  };
  using b_coords = std::conditional_t<C.gated(), gated_map, plain_map>;

  /// Fills the ring: of each K block a_share rows of A and b_share columns of B, for all CTAs that
  /// need them. One thread: two take 0.3 % of a large product (docs/decisions/0013).
  TW_DEVICE static void load(params const& p, smem& s) {
    enter_role("load");
    int const rank_m = cluster_rank() % C.cluster_m;
    int const rank_n = cluster_rank() / C.cluster_m % C.cluster_n;
    auto const same_rows = static_cast<std::uint16_t>(row_of_ranks << rank_m);
    auto const same_cols =
        static_cast<std::uint16_t>(((1 << C.cluster_m) - 1) << rank_n * C.cluster_m);
    ring<C.stages> slot;
    work_of_cta work(p.work, cluster_id());
    for (segment seg{}; work.next(p.work, cluster_count(), seg);) {
      tile_place const tile = tile_of(p, seg.tile);
      int const m = tile.m * C.tile_m + rank_n * a_share;  // the first row of A
      int const n = tile.n * C.tile_n + rank_m * b_share;  // the first column of B
      int const a_batch = p.a_batched * tile.batch, b_batch = p.b_batched * tile.batch;
      k_range const mine = my_part(seg);
      auto const load_tile = [&](tensor_map const& map_a, tensor_map const& map_b, auto const& x,
                                 auto a_matrix, auto b_matrix) {
        for (int k = mine.begin; k < mine.end; ++k, slot.next()) {
          s.slot_free[slot.stage].wait(slot.phase ^ 1U);
          mbarrier& landed = s.ab_landed[slot.stage];
          int const a_filled = operand_a::bytes(x.a_rows), b_filled = operand_b::bytes(x.b_rows);
          landed.arrive_expect_tx(a_filled + b_filled);
          leave_undefined(s.a[slot.stage] + a_filled, a_bytes - a_filled);
          leave_undefined(s.b[slot.stage] + b_filled, b_bytes - b_filled);
          std::byte* const a = s.a[slot.stage] + rank_n * (a_bytes / C.cluster_n);  // (a_share, 64)
          std::byte* const b = s.b[slot.stage] + rank_m * (b_bytes / C.cluster_m);  // (b_share, 64)
          load_share<operand_a, a_share, plain_map>(
              a, m, k, a_matrix, x.a_mine, [&](std::byte* box, auto const& at) {
                load_box<C.cluster_n>(box, map_a, landed, at, same_rows, p.a_l2);
              });
          load_share<operand_b, b_share, b_coords>(
              b, n, k, b_matrix, x.b_mine, [&](std::byte* box, auto const& at) {
                load_box<C.cluster_m>(box, map_b, landed, at, same_cols, p.b_l2);
              });
        }
      };
      part_of_tile const part{in_matrix(p.m - tile.m * C.tile_m, C.tile_m),
                              in_matrix(p.n - tile.n * C.tile_n, C.tile_n),
                              in_matrix(p.m - m, a_share), in_matrix(p.n - n, b_share)};
      if constexpr (C.by_pointers()) {
        if (p.by_pointers != 0) {
          load_tile(part.a_mine == a_share ? p.a : p.a_edge,
                    part.b_mine == b_share ? p.b : p.b_edge, part,
                    matrix_place(p.a_matrices, tile.batch, a_batch),
                    matrix_place(p.b_matrices, tile.batch, b_batch));
          continue;
        }
      }
      if (part.a_rows == C.tile_m && part.b_rows == C.tile_n)
        load_tile(p.a, p.b, whole_tile{}, a_batch, b_batch);  // of their own: maps are constants
      else
        load_tile(part.a_mine == a_share ? p.a : p.a_edge, part.b_mine == b_share ? p.b : p.b_edge,
                  part, a_batch, b_batch);
    }
    grid_dependents_launch();  // all loads are under way: the next launch may begin to set up
  }

  /// What a tile's loads fill: its rows of A and columns of B, and those that this CTA loads. Rows
  /// outside of the matrices are not loaded: TMA would fetch zeros for them, at a quarter of the
  /// speed (docs/decisions/0021). Their place keeps what was there, and nothing of it is stored.
  struct part_of_tile {
    int a_rows, b_rows, a_mine, b_mine;
  };
  struct whole_tile {
    static constexpr int a_rows = C.tile_m, b_rows = C.tile_n, a_mine = a_share, b_mine = b_share;
  };
  /// Of `most` rows, those that are in a matrix which ends `left` rows behind the first of them.
  TW_DEVICE static int in_matrix(int left, int most) {
    return left <= 0 ? 0 : left < most ? left : most;
  }

  /// The boxes of `mine` of `Share` rows (of M or N, from `first`) of K block k: of a K-major
  /// operand one with all rows, of an MN-major one each with a span of them.
  template <class Operand, int Share, class Map, class Matrix, class Load>
  TW_DEVICE static void load_share(std::byte* slot, int first, int k, Matrix matrix, int mine,
                                   Load load) {
    TW_UNROLL
    for (int i = 0; i < Operand::boxes(Share); ++i)
      if (i * Operand::span < mine)
        load(slot + Operand::box_offset_bytes(Share, i),
             Map::at(Operand::box_at(first, k * tile_k, i), matrix));
  }

  /// A box, for the `Ctas` CTAs of `mask`; l2 is for CTAs without peers. A CTA that has no peer for
  /// it must not multicast to itself: that takes twice the time of a load (docs/decisions/0015).
  template <int Ctas, int Rank>
  TW_DEVICE static void load_box(std::byte* box, tensor_map const& map, mbarrier& landed,
                                 tma_coord<Rank> const& at, std::uint16_t mask, l2_load l2) {
    if constexpr (Ctas > 1)
      tma_load_multicast(box, map, landed, at, mask);
    else if (loaders == 1 && l2 != l2_load::plain)
      tma_load_hinted(box, map, landed, at,
                      l2 == l2_load::evict_first ? evict_first_policy() : evict_normal_policy());
    else
      tma_load(box, map, landed, at);
  }

  /// K blocks [begin, end).
  struct k_range {
    int begin, end;
  };
  /// This CTA's part of a segment; empty where K has fewer blocks than the cluster has CTAs.
  TW_DEVICE static k_range my_part(segment const& seg) {
    if constexpr (C.cluster_k == 1) return {seg.k_begin, seg.k_end};
    int const blocks = seg.k_end - seg.k_begin;
    return {seg.k_begin + blocks * cluster_rank() / C.cluster_k,
            seg.k_begin + blocks * (cluster_rank() + 1) / C.cluster_k};
  }

  /// Kernels with few accumulators have registers for the tile's place during the main loop.
  static constexpr bool place_first = fragments * C.tile_n <= 128 && C.fused == fusion::none;

  /// A warpgroup all of whose rows are below D multiplies nothing: the power that it saves is the
  /// other SMs' clock (docs/decisions/0025). In small tiles the question costs more than that.
  static constexpr bool may_skip = !C.pingpong && C.cluster_k == 1 && C.tile_m >= 192;

  TW_DEVICE static bool is_below(params const& p, int cluster_tile, int first_row) {
    return warp_uniform(tile_of(p, cluster_tile).m) * C.tile_m + first_row >= p.m;
  }

  /// Frees the stages of `blocks` K blocks as they land. One thread waits and tells all CTAs:
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
    int const first_row = C.pingpong ? 0 : C.warpgroup_m() * consumer;  // in the CTA's tile
    ring<C.stages> slot;
    int turn = 0;  // of the epilogue's staging strips
    ring<1> sums;  // of the cluster
    bool mine = !C.pingpong || consumer == 0;
    if (!mine) named_barrier_arrive(my_turn, 256);  // the first tile is warpgroup 0's
    work_of_cta work(p.work, cluster_id());
    for (segment seg{}; work.next(p.work, cluster_count(), seg); mine = !C.pingpong || !mine) {
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
        tile = tile_of(p, seg.tile);
        tile = {warp_uniform(tile.m), warp_uniform(tile.n), warp_uniform(tile.batch)};
      }
      fixup_place meeting{};
      if constexpr (C.shares_tiles() && place_first) meeting = fixup<C>::place_of(p, seg, consumer);
      accumulators acc;  // (64, tile_n) each
      int held = 0;      // the stage whose wgmma group may still be in flight
      if constexpr (C.cluster_k > 1) clear(acc);
      k_range const part = my_part(seg);
      int const blocks = warp_uniform(part.end - part.begin);
      if constexpr (C.cluster_k == 1) {  // the first block does not read the accumulators
        s.ab_landed[slot.stage].wait(slot.phase);
        multiply(acc, s.a[slot.stage], s.b[slot.stage], first_row, false);
        held = slot.stage;
        slot.next();
      }
      for (int k = C.cluster_k == 1 ? 1 : 0; k < blocks; ++k, slot.next()) {
        s.ab_landed[slot.stage].wait(slot.phase);
        multiply(acc, s.a[slot.stage], s.b[slot.stage], first_row, true);
        wait<1>(acc);  // the group before this one has finished: its stage is free
        if (k > 0) release(s, held);
        held = slot.stage;
      }
      if (C.pingpong && !work.at_end(p.work)) named_barrier_arrive(my_turn + 1 - consumer, 256);
      wait<0>(acc);
      if (C.cluster_k == 1 || blocks > 0) release(s, held);
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
    if constexpr (!place_first) tile = tile_of(p, seg.tile);
    int const owner = C.cluster_k > 1 ? cluster_rank() : 0;
    fragment_place const at{tile.m * C.tile_m + first_row,
                            (tile.n * C.owners() + owner) * C.d_cols(), tile.batch};
    epilogue<C>::store(p.epilogue, s.d, consumer, at, acc, turn);
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

  TW_DEVICE static void clear(accumulators& acc) {
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int i = 0; i < acc[f].size; ++i) acc[f][i] = 0;
    });
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
    if (t < loaders) release_to(s, stage, t);
  }
  TW_DEVICE static void release_to(smem& s, int stage, int cta) {
    if constexpr (loaders == 1)
      s.slot_free[stage].arrive();
    else
      s.slot_free[stage].arrive_remote_relaxed(cta);
  }

  /// Bit r for every rank r = 0, cluster_m, 2 * cluster_m, ... of the cluster.
  static constexpr int row_of_ranks = [] {
    int mask = 0;
    for (int n = 0; n < C.cluster_n; ++n) mask |= 1 << (n * C.cluster_m);
    return mask;
  }();
};

}  // namespace tw
