// SPDX-License-Identifier: Apache-2.0
// gemm.hpp  The Hopper GEMM: D = alpha * A * B + beta * C, or a fused epilogue. A persistent kernel
//           with a producer warp, consumer warpgroups, multicast in the cluster and an epilogue
//           that overlaps the loads of the next tile. One source: nvcc compiles it for the GPU, g++
//           for the emulator.
//
//           Its parts: the main loop (mainloop/mainloop.hpp for consumers, loads.hpp for the
//           producer), the tile scheduler (scheduler.hpp) and the epilogue (epilogue/epilogue.hpp).
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm90/check_config.hpp"
#include "tilewright/kernel/sm90/cluster_sum.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/epilogue/epilogue.hpp"
#include "tilewright/kernel/sm90/fixup.hpp"
#include "tilewright/kernel/sm90/gate.hpp"
#include "tilewright/kernel/sm90/gather_rows.hpp"
#include "tilewright/kernel/sm90/mainloop/mainloop.hpp"
#include "tilewright/kernel/sm90/params.hpp"
#include "tilewright/kernel/sm90/scale_copies.hpp"
#include "tilewright/kernel/sm90/scheduler.hpp"
#include "tilewright/kernel/sm90/stage_scales.hpp"
#include "tilewright/kernel/sm90/sums.hpp"
#include "tilewright/kernel/sm90/tile_c.hpp"
#include "tilewright/kernel/sm90/turn_sums.hpp"
#include "tilewright/pipeline/ring.hpp"
#include "tilewright/pipeline/stage_profile.hpp"
#include "tilewright/pipeline/work.hpp"

namespace tw {

/// The kernel, with or without a record of its stages (pipeline/stage_profile.hpp), and with or
/// without a gate before its loads (gate.hpp).
template <gemm_config C, class Profile, class Gate = no_gate>
struct gemm_sm90_kernel {
  static_assert(is_checked<C>());
  using mainloop = gemm_mainloop<C>;
  using loads = gemm_loads<C>;
  using scheduler = tile_scheduler<C>;
  using store = epilogue<C>;
  using tiles = typename Gate::template tiles<scheduler>;  // of a cluster
  static_assert(!Gate::waits || (!C.grouped() && !C.scaled() && !C.weights() && C.cluster_k == 1 &&
                                 !C.a.is_mn_major() && gate_row_step % loads::a_share == 0));

  static constexpr int consumers = C.consumers();
  static constexpr int threads = warpgroup_threads * (1 + consumers);
  static constexpr int cluster = C.cluster();

  struct smem {
    alignas(swizzle_pattern_bytes) std::byte a[C.stages][loads::a_bytes];  // (tile_m, tile_k) each
    alignas(swizzle_pattern_bytes) std::byte b[C.stages][loads::b_bytes];  // (tile_n, tile_k) each
    epilogue_smem<C> d;
    typename Profile::template barrier<gemm_sm90_kernel> ab_landed[C.stages];
    mbarrier slot_free[C.stages];
    fixup_smem fix;
    int touched[2];
    [[no_unique_address]] staged_c_smem<C> c;
    [[no_unique_address]] typename cluster_sum<C>::smem k;
    [[no_unique_address]] typename turn_sums<C>::smem turns;
    [[no_unique_address]] block_scales_smem<C> scales;
    [[no_unique_address]] group_smem<C> groups;
    [[no_unique_address]] gather_smem<C> gather;
    [[no_unique_address]] typename Profile::template smem<consumers> profile;
  };
  static constexpr int smem_bytes = sizeof(smem);
  static_assert(staging_of(C).group > 0 && smem_bytes <= max_smem_bytes,
                "[TW0206] the stages and a staging buffer need more than 227 KiB of smem");

  using params = typename Gate::template params<typename Profile::template params<gemm_params>>;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    set_up(p, s);
    if (warpgroup_id() == 0) {
      if constexpr (consumers > 1) set_max_regs_dec<producer_regs>();
      if (warp_id() == 0) {
        produce(p, s);
        if constexpr (cluster > 1) warp_sync();  // reconverge: one lane ran the loop
      } else if constexpr (C.scaled()) {
        copy_scales(p, s);
      } else if constexpr (C.gathers()) {
        gather(p, s);
      } else {
        begin(p, s);
      }
    } else {
      if constexpr (consumers > 1) set_max_regs_inc<consumer_regs>();
      if constexpr (C.k_turns > 1)
        consume_in_turn(p, s, warpgroup_id() - 1);
      else
        consume(p, s, warpgroup_id() - 1);
    }
    if constexpr (cluster > 1) cluster_sync();  // a peer may still write to this CTA or signal it
  }

 private:
  /// Ping-pong: barriers my_turn + w let warpgroup w into its main loop once the other has waited
  /// for all of its stages; the parity of a stage does not distinguish turns of the ring further
  /// apart.
  static constexpr int my_turn = 5;

  // A launch gives each thread 168 registers of 384 threads, 128 of 512, 96 of 640, 72 of 896. The
  // producer's warpgroup gives registers back, and the consumers take them.
  // Warps that gather rows and copy scales need more than 40.
  static constexpr bool gathers_and_scales = C.scaled() && C.gathers() && consumers == 2;
  static constexpr int producer_regs = consumers == 6       ? 24
                                       : consumers >= 3     ? 32
                                       : gathers_and_scales ? 56
                                                            : 40;
  static constexpr int consumer_regs = consumers == 6       ? 80
                                       : consumers == 4     ? 112
                                       : consumers == 3     ? 160
                                       : gathers_and_scales ? 224
                                                            : 232;

  /// One thread of each warp of the producer's warpgroup initialises something.
  TW_DEVICE static void set_up(params const& p, smem& s) {
    if (thread_id() == 1 * warp_threads) {
      mainloop::init(p, s);
      if constexpr (scheduler::divides_k_in_cluster) cluster_sum<C>::init(s.k);
      if constexpr (C.loads_c()) staged_c<C>::init(s.c);
      fence_mbarrier_init();
    }
    if (thread_id() == 2 * warp_threads) {
      if constexpr (!C.weights()) tma_prefetch_map(p.a);
      tma_prefetch_map(p.b);
      if constexpr (!C.weights())
        if (p.m % loads::a_share != 0) tma_prefetch_map(p.a_edge);
      if (p.n % loads::b_share != 0) tma_prefetch_map(p.b_edge);
      if (p.epilogue.tma_end > 0) tma_prefetch_map(p.epilogue.d);
    }
    if (thread_id() == 3 * warp_threads) touch(p, s);
  }

  /// Brings the parameters that the epilogue reads to the constant cache, where they would be
  /// missed at the end of the main loop: 0.2 us (docs/decisions/0018).
  TW_DEVICE static void touch(params const& p, smem& s) {
    epilogue_params const& e = p.epilogue;
    s.touched[1] = e.tma_end ^ e.m ^ static_cast<int>(e.pitch) ^ static_cast<int>(e.c.row_stride) ^
                   static_cast<int>(e.fused.act) ^ p.fixup.counters;
  }

  /// Waits until the mbarriers are initialised and, with PDL, until operands, D and workspace are
  /// no longer those of the launch before. Then a warp with many registers reads the sizes of
  /// groups.
  TW_DEVICE static void begin(params const& p, smem& s) {
    if constexpr (cluster > 1)
      cluster_sync();
    else
      cta_sync();
    grid_dependency_wait();
    if constexpr (C.grouped()) {
      if (warp_id() == warps_of_warpgroup) scheduler::prepare(p, s.groups.table);
      cta_sync();
    }
  }

  /// The CTA's cluster, and the number of clusters; of a rank, if the launch has several ranks.
  TW_DEVICE static int own_cluster(params const& p) {
    if constexpr (Gate::waits)
      return scheduler::own_cluster() - p.gate.first_cluster;
    else
      return scheduler::own_cluster();
  }
  TW_DEVICE static int clusters(params const& p) {
    if constexpr (Gate::waits)
      return p.gate.clusters;
    else
      return scheduler::clusters();
  }

  /// The tiles of this CTA's cluster.
  TW_DEVICE static tiles work_of(params const& p, smem const& s) {
    if constexpr (C.grouped())
      return scheduler::work_of(p, s.groups.table);
    else if constexpr (Gate::waits)
      return tiles(p.work, own_cluster(p), p.gate.first_tile);
    else
      return typename scheduler::work(p.work, own_cluster(p));
  }

  /// The producer: one thread loads the K blocks of the CTA's tiles; two take 0.3 % of a large GEMM
  /// (docs/decisions/0013). Its warp computes the first tile's coordinates while other warps
  /// initialise barriers (0029).
  TW_DEVICE static void produce(params const& p, smem& s) {
    enter_role("load");
    // Prefetches two constant-bank lines: their misses overlap.
    if (lane_id() == 0) s.touched[0] = p.work.tiles ^ p.m;
    if constexpr (C.grouped()) begin(p, s);
    tiles work = work_of(p, s);
    typename scheduler::segment seg{};
    bool more = work.next(p.work, clusters(p), seg);
    typename loads::tile_loads t = loads::loads_of(p, seg);
    if constexpr (!C.grouped()) begin(p, s);
    if (!elect_one()) return;
    ring<C.stages> slot;
    if constexpr (Gate::waits) {
      load_gated(p, s, slot, work, seg, more);
      grid_dependents_launch();
      return;
    }
    for (; more; more = work.next(p.work, clusters(p), seg), t = loads::loads_of(p, seg)) {
      using place = typename loads::template sources<tma_place>;
      using index = typename loads::template sources<int>;
      tensor_map const& map_a = t.part.a_mine == loads::a_share ? p.a : p.a_edge;
      tensor_map const& map_b = t.part.b_mine == loads::max_b_share(p) ? p.b : p.b_edge;
      if constexpr (C.gathers()) {
        if (row_gather<C>::is_on(p)) loads::leave_to_gather(t);
      }
      int const a_batch = p.a_batched * t.batch, b_batch = p.b_batched * t.batch;
      if constexpr (C.ragged == group_axis::k) {
        // The maps of A and B have `total` indices of K and are placed so that they end with the
        // group: element k of the group has the coordinate total - size + k. A contiguous K ends
        // at a multiple of 16 bytes (group_sizes::step), so that TMA can address the place.
        t.first_k = p.group.sizes.total - seg.size;
        std::int64_t const from = std::int64_t{seg.begin} - t.first_k;
        auto const at = [&](void const* data, std::int64_t step) {
          return tma_place_of(static_cast<std::byte const*>(data) + from * step);
        };
        loads::load_tile(p, s, slot, t, t.part,
                         place{map_a, map_b, at(p.group.a_data, p.group.a_step),
                               at(p.group.b_data, p.group.b_step)});
        continue;
      }
      if constexpr (C.by_pointers() && !C.grouped()) {
        if (p.by_pointers != 0) {
          loads::load_tile(p, s, slot, t, t.part,
                           place{map_a, map_b, matrix_place(p.a_matrices, t.batch, a_batch),
                                 matrix_place(p.b_matrices, t.batch, b_batch)});
          continue;
        }
      }
      if (t.part.a_rows == C.tile_m && t.part.b_rows == C.tile_n)
        // Separate functions: the maps are constants.
        loads::load_tile(p, s, slot, t, typename loads::whole_tile{},
                         index{p.a, p.b, a_batch, b_batch});
      else
        loads::load_tile(p, s, slot, t, t.part, index{map_a, map_b, a_batch, b_batch});
    }
    grid_dependents_launch();  // all loads are under way: the next launch may begin to set up
  }

  /// The producer's loop of a kernel with a gate.
  TW_DEVICE static void load_gated(params const& p, smem& s, ring<C.stages>& slot, tiles& work,
                                   typename scheduler::segment& seg, bool more) {
    Gate gate(p);
    for (; more; more = work.next(p.work, clusters(p), seg)) {
      typename loads::tile_loads const t = loads::loads_of(p, seg);
      typename scheduler::tile const at = scheduler::tile_of(p, seg);
      gate.open(at.row, C.tile_m, at.col, C.tile_n);
      bool const whole = t.part.a_mine == loads::a_share;
      bool const own = gate.has_own(t.m, t.part.a_mine);
      tensor_map const& map_a =
          own ? (whole ? p.gate.own_a : p.gate.own_a_edge) : (whole ? p.a : p.a_edge);
      tensor_map const& map_b = t.part.b_mine == loads::max_b_share(p) ? p.b : p.b_edge;
      loads::load_tile(p, s, slot, t, t.part,
                       typename loads::template sources<int>{map_a, map_b, 0, 0});
    }
    if (cta_id() == p.gate.first_cluster * cluster) gate.finish();
  }

  /// The other warps of the producer's warpgroup, in kernels with scales of A and B: they copy the
  /// scales of the CTA's tiles.
  TW_DEVICE static void copy_scales(params const& p, smem& s) {
    enter_role("scales");
    begin(p, s);
    if constexpr (C.gathers()) {
      if (row_gather<C>::is_on(p) && warp_id() < first_gather_warp) return pass_rows_on(p, s);
    }
    ring<C.stages> slot;
    tiles work = work_of(p, s);
    row_gather<C> rows(p);
    for (typename scheduler::segment seg{}; work.next(p.work, clusters(p), seg);) {
      typename scheduler::tile const tile = scheduler::tile_of(p, seg);
      auto k = scheduler::k_blocks_of(seg);
      if constexpr (C.ragged == group_axis::k) {
        int const first = scheduler::first_block(p, s.groups.table, seg);
        k.begin += first, k.end += first;
      }
      begin_gather(p, rows, tile, k.begin);
      if (has_block_scales<C>(p))
        copy_scales_of<scales_of_b::blocks>(p, s, slot, rows, tile, k.begin, k.end);
      else
        copy_scales_of<scales_of_b::columns>(p, s, slot, rows, tile, k.begin, k.end);
    }
  }
  template <scales_of_b B>
  TW_DEVICE static void copy_scales_of(params const& p, smem& s, ring<C.stages>& slot,
                                       row_gather<C>& rows, typename scheduler::tile const& tile,
                                       int begin, int end) {
    scale_copies<C, B> const scales(p, thread_id() - warp_threads, scheduler::a_origin(tile),
                                    scheduler::scale_col(tile), tile.matrix);
    scales.run(s, slot, begin, end, rows);
  }

  TW_DEVICE static void begin_gather(params const& p, row_gather<C>& rows,
                                     typename scheduler::tile const& tile, int first_k) {
    if constexpr (C.gathers()) {
      if (!rows.is_on(p)) return;
      if constexpr (C.ragged == group_axis::m)
        rows.begin(scheduler::a_origin(tile), scheduler::rows_left(p, tile), tile.col == 0,
                   first_k);
      else
        rows.begin(scheduler::b_origin(tile), scheduler::b_cols_left(p, tile), tile.row == 0,
                   first_k);
    }
  }
  /// These warps in kernels without scales: two copy the rows that an index array names.
  TW_DEVICE static void gather(params const& p, smem& s) {
    begin(p, s);
    if (!row_gather<C>::is_on(p)) return;
    if (warp_id() < first_gather_warp) return pass_rows_on(p, s);
    enter_role("gather");
    ring<C.stages> slot;
    tiles work = work_of(p, s);
    row_gather<C> rows(p);
    for (typename scheduler::segment seg{}; work.next(p.work, clusters(p), seg);) {
      auto const k = scheduler::k_blocks_of(seg);
      begin_gather(p, rows, scheduler::tile_of(p, seg), k.begin);
      TW_NO_UNROLL
      for (int i = k.begin; i < k.end; ++i, slot.next()) rows.load(s, slot, i);
    }
  }
  /// Warp 1 of kernels that gather rows: one thread passes them on to the consumers.
  TW_DEVICE static void pass_rows_on(params const& p, smem& s) {
    enter_role("rows");
    if (lane_id() == 0) {
      ring<C.stages> slot;
      tiles work = work_of(p, s);
      for (typename scheduler::segment seg{}; work.next(p.work, clusters(p), seg);) {
        auto const k = scheduler::k_blocks_of(seg);
        TW_NO_UNROLL
        for (int i = k.begin; i < k.end; ++i, slot.next()) row_gather<C>::pass_on(s, slot);
      }
    }
    if constexpr (cluster > 1) warp_sync();  // reconverge
  }

  /// Kernels with few accumulators have registers for the tile's place during the main loop. Two
  /// warpgroups with a main loop for each of several widths have not: ptxas serialised the wgmmas.
  static constexpr bool place_first = C.scaled() || C.in_turn() ||
                                      (C.fragments() * C.tile_n <= 128 && !C.fused() &&
                                       consumers < 4 && !(C.varies_tile_n() && consumers == 2));

  /// A warpgroup all of whose rows are below D multiplies nothing: the power that it saves is the
  /// other SMs' clock (docs/decisions/0025). In small tiles the test costs more than that.
  static constexpr bool may_skip = !C.pingpong && C.cluster_k == 1 && C.tile_m >= 192;

  TW_DEVICE static bool is_outside(params const& p, typename scheduler::segment const& seg,
                                   int first_row) {
    return warp_uniform(scheduler::rows_left(p, scheduler::tile_of(p, seg))) <= first_row;
  }

  /// Ping-pong: once a consumer has issued the wgmmas of its tile, the other may start.
  struct next_turn {
    tiles const& work;
    work_plan const& plan;
    int consumer;
    TW_DEVICE void notify() const {
      if (C.pingpong && !work.at_end(plan))
        named_barrier_arrive(my_turn + 1 - consumer, 2 * warpgroup_threads);
    }
  };

  /// A consumer: a warpgroup that multiplies, and stores its rows of D.
  TW_DEVICE static void consume(params const& p, smem& s, int consumer) {
    enter_role("math");
    begin(p, s);
    Profile::start(p, s.profile, consumer);
    int const first_row = C.pingpong ? 0 : C.warpgroup_m() * consumer;  // in the CTA's tile
    ring<C.stages> slot;
    staging_state staged;
    ring<1> sums;  // of the cluster
    bool mine = !C.pingpong || consumer == 0;
    // The first tile is warpgroup 0's.
    if (!mine) named_barrier_arrive(my_turn, 2 * warpgroup_threads);
    tiles work = work_of(p, s);
    for (typename scheduler::segment seg{}; work.next(p.work, clusters(p), seg);
         mine = !C.pingpong || !mine) {
      if (!mine) {
        slot.skip(seg.k_end - seg.k_begin);
        continue;
      }
      if constexpr (C.pingpong) named_barrier_sync(my_turn + consumer, 2 * warpgroup_threads);
      if constexpr (may_skip) {
        if ((C.ragged == group_axis::m || p.m % C.tile_m != 0) && is_outside(p, seg, first_row)) {
          mainloop::skip(s, consumer, slot, warp_uniform(seg.k_end - seg.k_begin));
          continue;
        }
      }
      if constexpr (C.begins_c())
        if (p.epilogue.c.data != nullptr) tile_c<C>::begin(p, s, consumer, seg, first_row);
      typename scheduler::tile tile{};
      if constexpr (place_first)  // while the first loads are in flight
        tile = scheduler::uniform(scheduler::tile_of(p, seg));
      typename scheduler::part part{};
      if constexpr (place_first) part = scheduler::part_of(p, seg, consumer);
      sums_of<C, C.tile_n> acc;  // (64, tile_n) each
      auto const k = scheduler::k_blocks_of(seg);
      consumer_part const rows{first_row, scheduler::scale_col(tile),
                               warp_uniform(k.end - k.begin)};
      mainloop::run(p, s, slot, rows, acc, next_turn{work, p.work, consumer});
      Profile::store_begins(s.profile, consumer);
      if constexpr (scheduler::divides_k_in_cluster) {
        typename cluster_sum<C>::sum total;  // (64, part_n) each
        if (cluster_sum<C>::add(s.k, consumer, acc, total, sums, !work.at_end(p.work)))
          finish(p, s, consumer, seg, part, tile, first_row, total, staged);
      } else {
        finish(p, s, consumer, seg, part, tile, first_row, acc, staged);
      }
      Profile::store_ends(s.profile, consumer);
      // ptxas takes a warp for diverged after the branches of a fused epilogue, and would move the
      // descriptors of each wgmma of the next tile to uniform registers (docs/decisions/0055).
      if constexpr (C.fused()) warp_sync();
    }
    store::finish();
    Profile::finish(p, s.profile, consumer);
  }

  /// A consumer of kernels in which several take the K blocks of the same rows in turn.
  TW_DEVICE static void consume_in_turn(params const& p, smem& s, int consumer) {
    using in_turn = turn_sums<C>;
    enter_role("math");
    begin(p, s);
    int const rows = consumer % C.math_warpgroups(), turn = consumer / C.math_warpgroups();
    int const first_row = C.warpgroup_m() * rows;  // in the CTA's tile
    ring<C.stages> slot;                           // of a tile's first K block
    staging_state staged;
    bool again = false;
    tiles work = work_of(p, s);
    for (typename scheduler::segment seg{}; work.next(p.work, clusters(p), seg); again = true) {
      auto const k = scheduler::k_blocks_of(seg);
      int const blocks = warp_uniform(k.end - k.begin);
      int const place = warp_uniform(in_turn::place_of(turn, slot.stage));
      ring<C.stages> own = slot;
      own.skip(place), slot.skip(blocks);
      int const mine = in_turn::blocks_of(place, blocks);
      if (mine > 0) {
        sums_of<C, C.tile_n> acc;  // (64, tile_n)
        mainloop::run(p, s, own, {first_row, 0, mine}, acc, next_turn{work, p.work, consumer});
        if (again) in_turn::wait_until_read(rows, turn);
        in_turn::give(s.turns, rows, place, acc);
      } else {
        if (again) in_turn::wait_until_read(rows, turn);
        in_turn::give_zeros(s.turns, rows, place);
      }
      sums_of<C, C.tile_n> sum;  // (64, tile_n)
      if (in_turn::take(s.turns, rows, turn, sum, !work.at_end(p.work)))
        finish(p, s, rows, seg, {}, {}, first_row, sum, staged);
    }
    store::finish();
  }

  /// Reduces the parts of a split-K tile, and stores a warpgroup's fragments, whose first row in
  /// the tile is first_row.
  template <class Fragments>
  TW_DEVICE static void finish(params const& p, smem& s, int consumer,
                               typename scheduler::segment const& seg,
                               typename scheduler::part part, typename scheduler::tile tile,
                               int first_row, Fragments& acc, staging_state& staged) {
    if constexpr (!place_first) part = scheduler::part_of(p, seg, consumer);
    if (!scheduler::reduce(s.fix, part, consumer, acc)) return;
    if constexpr (!place_first) tile = scheduler::tile_of(p, seg);
    int const owner = scheduler::divides_k_in_cluster ? cluster_rank() : 0;
    fragment_place const at = scheduler::place_in_d(p, tile, first_row, owner * C.d_cols());
    if constexpr (C.loads_c()) {
      if (p.epilogue.c_by_tma != 0) {
        if constexpr (std::is_same_v<sum_type<C>, result_type<C>>)
          store::store_with_c(tile_c<C>::staged(p, s, consumer, tile, first_row), acc, staged);
        else {
          typename store::fragment results[C.fragments()];
          convert_sums(results, acc);
          store::store_with_c(tile_c<C>::staged(p, s, consumer, tile, first_row), results, staged);
        }
        return;
      }
    }
    if constexpr (std::is_same_v<sum_type<C>, result_type<C>>) {
      store::store(p.epilogue, s.d, consumer, at, acc, staged);
    } else {
      typename store::fragment results[C.fragments()];
      convert_sums(results, acc);
      store::store(p.epilogue, s.d, consumer, at, results, staged);
    }
  }
};

/// The kernel as it is used. A type with one parameter: its symbol is short.
template <gemm_config C>
struct gemm_sm90 : gemm_sm90_kernel<C, no_profile> {};

/// The kernel with a gate before its loads.
template <gemm_config C>
struct gemm_sm90_gated : gemm_sm90_kernel<C, no_profile, shard_gate> {};

}  // namespace tw
