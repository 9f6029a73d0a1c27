// SPDX-License-Identifier: Apache-2.0
// mainloop.hpp  The consumers' half of the main loop: waits for stages, multiplies them by wgmma,
//               frees them. loads.hpp has the producer's half.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/atom/operand.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/block_scales.hpp"
#include "tilewright/kernel/sm90/loads.hpp"
#include "tilewright/kernel/sm90/register_a.hpp"
#include "tilewright/kernel/sm90/sums.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

/// Smem, in all functions: shared memory with the members a, b, ab_landed and slot_free.
template <gemm_config C>
struct gemm_mainloop {
  using loads = gemm_loads<C>;
  using operand_a = typename loads::operand_a;
  using operand_b = typename loads::operand_b;
  static constexpr int a_share = loads::a_share, b_share = loads::b_share;
  static constexpr int loaders = loads::loaders;   // CTAs that fill each other's slots
  static constexpr int fragments = C.fragments();  // of wgmma_m rows, per consumer
  /// Of a consumer, that signal that a stage has been read: its warps read A, or wgmma reads all.
  static constexpr int readers = C.a_in_registers() ? warps_of_warpgroup : 1;
  static constexpr int tile_k = C.tile_k();

  template <int Cols>
  using accumulators = sums_of<C, Cols>;

  /// One thread initialises the barriers of the stages.
  template <class Smem>
  TW_DEVICE static void init(Smem& s) {
    for (int i = 0; i < C.stages; ++i) {
      s.ab_landed[i].init(1 + (C.scaled() ? scale_threads : 0));
      s.slot_free[i].init((C.pingpong ? 1 : C.math_warpgroups()) * readers * loaders);
    }
    if constexpr (C.scaled()) s.scales.init();
  }

  /// acc = the sum over `blocks` K blocks, of rows from first_row of the CTA's tile. `issued` is
  /// notified when all wgmmas have been issued.
  template <class Smem, class Issued>
  TW_DEVICE static void run(gemm_params const& p, Smem& s, ring<C.stages>& slot, int first_row,
                            int blocks, accumulators<C.tile_n>& acc, Issued const& issued) {
    if constexpr (C.varies_tile_n())
      add_narrow<C.tile_n>(p, s, slot, first_row, blocks, acc, issued);
    else
      add(s, slot, first_row, blocks, acc, issued);
  }

  /// The same with the scales of A and B: each K block is multiplied by them as it is added.
  template <class Smem, class Scales, class Issued>
  TW_DEVICE static void run_scaled(Smem& s, ring<C.stages>& slot, int first_row, int blocks,
                                   Scales scales, accumulators<C.tile_n>& acc,
                                   Issued const& issued) {
    clear(acc);
    accumulators<C.promoted_n()> part;
    TW_NO_UNROLL
    for (int k = 0; k < blocks; ++k, slot.next())
      add_block(s, slot, first_row, k + 1 == blocks, acc, part, issued,
                scaled_sums<Scales>{scales});
    if (blocks == 0) issued.notify();
  }

  /// Frees the stages of `blocks` K blocks as they land. One thread waits and signals all CTAs:
  /// another could sleep while a stage is filled again, where those that fill it do not wait for
  /// that thread. It must not run ahead either: the parity of a stage cannot tell turns of the ring
  /// further apart.
  template <class Smem>
  TW_DEVICE static void skip(Smem& s, int consumer, ring<C.stages>& slot, int blocks) {
    if (thread_id() % warpgroup_threads == 0) {
      ring<C.stages> at = slot;
      for (int k = 0; k < blocks; ++k, at.next()) {
        s.ab_landed[at.stage].wait(at.phase);
        TW_UNROLL
        for (int i = 0; i < readers * loaders; ++i) release_to(s, at.stage, i % loaders);
        if constexpr (C.scaled())
          for (int warp = 0; warp < warps_of_warpgroup; ++warp)
            s.scales.scales_read[at.stage].arrive();
      }
    }
    named_barrier_sync(1 + consumer, warpgroup_threads);
    slot.skip(blocks);
  }

 private:
  /// acc = the sum over `blocks` K blocks; `issued` is notified when all
  /// wgmmas have been issued.
  template <int Cols, class Smem, class Issued>
  TW_DEVICE static void add(Smem& s, ring<C.stages>& slot, int first_row, int blocks,
                            accumulators<Cols>& acc, Issued const& issued) {
    if constexpr (C.promote_k() > 0 && C.a_in_registers()) {
      add_promoted_from_registers(s, slot, first_row, blocks, acc, issued);
    } else if constexpr (C.promote_k() > 0) {
      add_promoted(s, slot, first_row, blocks, acc, issued);
    } else if constexpr (C.a_in_registers()) {
      add_blocks_from_registers(s, slot, first_row, blocks, acc, issued);
    } else if constexpr (C.sums == sum_form::f16) {
      accumulator<Cols, f16> pairs[fragments];
      add_blocks(s, slot, first_row, blocks, pairs, issued);
      widen_sums(acc, pairs);
    } else {
      add_blocks(s, slot, first_row, blocks, acc, issued);
    }
  }

  /// The same, promoted: every promote_k() elements of K the tensor core begins another sum, which
  /// is added to acc in float32. Each warpgroup waits for its wgmmas before it adds; meanwhile the
  /// tensor cores multiply for the other warpgroups.
  template <int Cols, class Smem, class Issued>
  TW_DEVICE static void add_promoted(Smem& s, ring<C.stages>& slot, int first_row, int blocks,
                                     accumulators<Cols>& acc, Issued const& issued) {
    static_assert(Cols == C.tile_n, "kernels that promote have tiles of one width");
    clear(acc);
    accumulators<C.promoted_n()> part;
    TW_NO_UNROLL
    for (int k = 0; k < blocks; ++k, slot.next())
      add_block(s, slot, first_row, k + 1 == blocks, acc, part, issued, plain_sums{});
    if (blocks == 0) issued.notify();
  }

  /// The same with A in registers.
  template <class Smem, class Issued>
  TW_DEVICE static void add_promoted_from_registers(Smem& s, ring<C.stages>& slot, int first_row,
                                                    int blocks, accumulators<C.tile_n>& acc,
                                                    Issued const& issued) {
    static_assert(C.promoted_n() == C.tile_n && C.promote_k() == tile_k);
    clear(acc);
    accumulators<C.tile_n> part;
    register_a<C> const from(first_row);
    typename register_a<C>::block a;
    TW_NO_UNROLL
    for (int k = 0; k < blocks; ++k, slot.next()) {
      s.ab_landed[slot.stage].wait(slot.phase);
      from.read(a, s.a[slot.stage]);
      multiply(part, a, s.b[slot.stage], false);
      if (k + 1 == blocks) issued.notify();
      wait<0>(part);
      release(s, slot.stage);
      plain_sums{}.add(acc, part, 0);
    }
  }

  /// How sums of the tensor core are added: as they are.
  struct plain_sums {
    template <class Smem>
    TW_DEVICE void prepare(Smem&, int) const {}
    template <class Smem>
    TW_DEVICE void finish(Smem&, int) const {}
    template <class Fragments, class Parts>
    TW_DEVICE void add(Fragments& to, Parts& from, int first) const {
      unrolled<fragments>([&](auto f) {
        TW_UNROLL
        for (int e = 0; e < from[f].size; ++e) to[f][first + e] += from[f][e];
      });
    }
  };

  /// Adds the sums of the tensor core, multiplied by the scales of their K block.
  template <class Scales>
  struct scaled_sums {
    Scales& scales;
    template <class Smem>
    TW_DEVICE void prepare(Smem& s, int stage) const {
      scales.read(s.scales.of_stage[stage]);
      if constexpr (Scales::few) are_read(s, stage);
    }
    template <class Smem>
    TW_DEVICE void finish(Smem& s, int stage) const {
      if constexpr (!Scales::few) are_read(s, stage);
    }
    template <class Smem>
    TW_DEVICE static void are_read(Smem& s, int stage) {
      warp_sync();
      if (lane_id() == 0) s.scales.scales_read[stage].arrive();
    }
    template <class Fragments, class Parts>
    TW_DEVICE void add(Fragments& to, Parts& from, int first) const {
      scales.add(to, from, first);
    }
  };

  /// acc += the sum over a K block, part by part.
  template <class Smem, class Part, class Issued, class Sums>
  TW_DEVICE static void add_block(Smem& s, ring<C.stages> const& slot, int first_row, bool last,
                                  accumulators<C.tile_n>& acc, Part& part, Issued const& issued,
                                  Sums const& sums) {
    constexpr int cols = C.promoted_n(), parts_of_k = tile_k / C.promote_k();
    s.ab_landed[slot.stage].wait(slot.phase);
    unrolled<C.tile_n / cols>([&](auto at) {
      constexpr int n = at;
      unrolled<parts_of_k>([&](auto in_block) {
        constexpr int i = in_block;
        constexpr bool last_part = (n + 1) * cols == C.tile_n && i + 1 == parts_of_k;
        multiply<C.promote_k()>(part, s.a[slot.stage], s.b[slot.stage], first_row,
                                i * C.promote_k(), false, n * cols);
        if (last_part && last) issued.notify();
        if constexpr (n == 0 && i == 0) sums.prepare(s, slot.stage);  // meanwhile
        wait<0>(part);
        if constexpr (last_part) release(s, slot.stage);
        sums.add(acc, part, n * cols / 2);
        if constexpr (last_part) sums.finish(s, slot.stage);
      });
    });
  }

  /// The same, as the tensor core adds, with A in registers: a block is read while the tensor cores
  /// multiply the one before it.
  template <class Smem, class Sums, class Issued>
  TW_DEVICE static void add_blocks_from_registers(Smem& s, ring<C.stages>& slot, int first_row,
                                                  int blocks, Sums& acc, Issued const& issued) {
    register_a<C> const from(first_row);
    typename register_a<C>::block even, odd;
    s.ab_landed[slot.stage].wait(slot.phase);
    from.read(even, s.a[slot.stage]);
    multiply(acc, even, s.b[slot.stage], false);
    int held = slot.stage;  // the stage whose wgmma group may still be in flight
    slot.next();
    auto const add_next = [&](auto& a) {
      s.ab_landed[slot.stage].wait(slot.phase);
      from.read(a, s.a[slot.stage]);
      multiply(acc, a, s.b[slot.stage], true);
      wait<1>(acc);
      release(s, held);
      held = slot.stage;
      slot.next();
    };
    int k = 1;
    TW_NO_UNROLL
    for (; k + 1 < blocks; k += 2) {
      add_next(odd);
      add_next(even);
    }
    if (k < blocks) add_next(odd);
    issued.notify();
    wait<0>(acc);
    release(s, held);
  }

  /// The same, as the tensor core adds.
  template <class Smem, class Sums, class Issued>
  TW_DEVICE static void add_blocks(Smem& s, ring<C.stages>& slot, int first_row, int blocks,
                                   Sums& acc, Issued const& issued) {
    int held = 0;  // the stage whose wgmma group may still be in flight
    if constexpr (C.cluster_k > 1) clear(acc);
    if constexpr (C.cluster_k == 1) {  // the first block does not read the accumulators
      s.ab_landed[slot.stage].wait(slot.phase);
      multiply<tile_k>(acc, s.a[slot.stage], s.b[slot.stage], first_row, 0, false);
      held = slot.stage;
      slot.next();
    }
    TW_UNROLL_BY_2  // by 4, as nvcc does by itself, takes twice as long to compile
        for (int k = C.cluster_k == 1 ? 1 : 0; k < blocks; ++k, slot.next()) {
      s.ab_landed[slot.stage].wait(slot.phase);
      multiply<tile_k>(acc, s.a[slot.stage], s.b[slot.stage], first_row, 0, true);
      wait<1>(acc);  // the group before this one has finished: its stage is free
      if (k > 0) release(s, held);
      held = slot.stage;
    }
    issued.notify();
    wait<0>(acc);
    if (C.cluster_k == 1 || blocks > 0) release(s, held);
  }

  /// The same for the launch's tile_cols columns: a main loop for each number of them, `Cols` and
  /// below. Later elements of acc are not stored.
  template <int Cols, class Smem, class Issued>
  TW_DEVICE static void add_narrow(gemm_params const& p, Smem& s, ring<C.stages>& slot,
                                   int first_row, int blocks, accumulators<C.tile_n>& acc,
                                   Issued const& issued) {
    if (Cols == C.min_tile_n || p.tile_cols == Cols) {
      accumulators<Cols> narrow;
      add(s, slot, first_row, blocks, narrow, issued);
      unrolled<fragments>([&](auto f) {
        TW_UNROLL
        for (int i = 0; i < acc[f].size; ++i) acc[f][i] = i < narrow[f].size ? narrow[f][i] : 0;
      });
    } else if constexpr (Cols > C.min_tile_n) {
      add_narrow<Cols - wgmma_n_step>(p, s, slot, first_row, blocks, acc, issued);
    }
  }

  /// K elements of a K block, from `first_k` on, as a wgmma group: each acc (64, Cols) += A (64, K)
  /// * B (Cols, K)^T, of the tile's columns from `first_col` on.
  template <int K, class Sums>
  TW_DEVICE static void multiply(Sums& acc, std::byte* a, std::byte* b, int first_row, int first_k,
                                 bool accumulate, int first_col = 0) {
    if constexpr (fragments == 1)
      wgmma_fence(acc[0]);
    else
      wgmma_fence(acc[0], acc[1]);
    smem_desc const a_desc = operand_a::desc(smem_addr(a), a_share, first_row, 0);
    smem_desc const b_desc = operand_b::desc(smem_addr(b), b_share, 0, 0);
    TW_UNROLL
    for (int k = 0; k < K; k += traits_of(C.ab).mma_k())
      unrolled<fragments>([&](auto f) {
        wgmma<C.ab, C.a_major(), C.b_major(), C.b()>(
            acc[f], a_desc + operand_a::start_bytes(a_share, wgmma_m * f, first_k + k),
            b_desc + operand_b::start_bytes(b_share, first_col, first_k + k), accumulate || k > 0);
      });
    wgmma_commit();
  }

  /// The same with all of A's K block in registers, which was read from its stage. TMA, in the
  /// async proxy, may fill the stage again once these reads are ordered before it.
  template <class Sums>
  TW_DEVICE static void multiply(Sums& acc, typename register_a<C>::block const& a, std::byte* b,
                                 bool accumulate) {
    wgmma_fence(acc[0]);
    smem_desc const b_desc = operand_b::desc(smem_addr(b), b_share, 0, 0);
    unrolled<register_a<C>::steps>([&](auto step) {
      constexpr int k = step * traits_of(C.ab).mma_k();
      wgmma<C.ab, C.b_major(), C.b()>(acc[0], a.part[step],
                                      b_desc + operand_b::start_bytes(b_share, 0, k),
                                      accumulate || k > 0);
    });
    wgmma_commit();
    fence_proxy_async();
  }

  template <class Sums>
  TW_DEVICE static void clear(Sums& acc) {
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int i = 0; i < acc[f].size; ++i) acc[f][i] = 0;
    });
  }

  template <int Pending, class Sums>
  TW_DEVICE static void wait(Sums& acc) {
    if constexpr (fragments == 1)
      wgmma_wait<Pending>(acc[0]);
    else
      wgmma_wait<Pending>(acc[0], acc[1]);
  }

  /// Signals every CTA that loads into this slot that this warpgroup has read it. Relaxed: nothing
  /// was written, and wgmma's reads are complete since wgmma_wait (docs/decisions/0004). With A in
  /// registers each warp signals the one CTA, with release: its lanes have read A.
  template <class Smem>
  TW_DEVICE static void release(Smem& s, int stage) {
    if constexpr (C.a_in_registers()) warp_sync();  // all lanes have read A
    int const t = thread_id() % (warpgroup_threads / readers);
    if (t < loaders) release_to(s, stage, t);
  }
  template <class Smem>
  TW_DEVICE static void release_to(Smem& s, int stage, int cta) {
    if constexpr (loaders == 1)
      s.slot_free[stage].arrive();
    else
      s.slot_free[stage].arrive_remote_relaxed(cta);
  }
};

}  // namespace tw
