// SPDX-License-Identifier: Apache-2.0
// stages.hpp  The common part of all main loops of consumers: the barriers of the stages, and the
//             wgmma group of a K block in shared memory. ../loads.hpp fills the stages.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/atom/operand.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/block_scales.hpp"
#include "tilewright/kernel/sm90/gather_rows.hpp"
#include "tilewright/kernel/sm90/loads.hpp"
#include "tilewright/kernel/sm90/sums.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

/// A consumer's part of the CTA's tile: its rows, and the K blocks that it multiplies.
struct consumer_part {
  int first_row;  // in the CTA's tile
  int first_col;  // of the tile in D
  int blocks;
};

/// Sums are added as they are, times a 1 that the compiler does not know: ptxas assigns FADD
/// registers so that it spills, and FFMA not.
struct no_scales {
  float one;
  template <class Smem>
  TW_DEVICE void read(Smem&, int) const {}
  template <int F, class To, class From>
  TW_DEVICE void add(To& to, From& from, int) const {
    TW_UNROLL
    for (int i = 0; i < From::size; ++i) to[i] = fmaf(one, from[i], to[i]);
  }
  template <class Smem>
  TW_DEVICE void finish(Smem&, int) const {}
};

/// Smem, in all functions: shared memory with the members a, b, ab_landed, slot_free, scales
/// and gather.
template <gemm_config C>
struct mainloop_stages {
  using loads = gemm_loads<C>;
  using operand_a = typename loads::operand_a;
  using operand_b = typename loads::operand_b;
  static constexpr int a_share = loads::a_share, b_share = loads::b_share;
  static constexpr int tile_k = C.tile_k();
  static constexpr int fragments = C.fragments();  // of wgmma_m rows, per consumer
  /// Warps of a consumer that signal that they have read A, or 1: wgmma has read A and B.
  static constexpr int readers = C.a_in_registers() ? warps_of_warpgroup : 1;

  template <int Cols>
  using accumulators = sums_of<C, Cols>;  // fragments x (64, Cols)

  /// One thread initialises the barriers of the stages.
  template <class Smem>
  TW_DEVICE static void init(gemm_params const& p, Smem& s) {
    for (int i = 0; i < C.stages; ++i) {
      s.ab_landed[i].init(1 + s.scales.writers(p) + (row_gather<C>::is_on(p) ? 1 : 0));
      s.slot_free[i].init((C.pingpong ? 1 : C.math_warpgroups()) * readers * loads::loaders);
    }
    s.scales.init();
    s.gather.init();
  }

  /// Frees the stages of `blocks` K blocks as they land. One thread waits and signals all CTAs:
  /// another could sleep while a stage is filled again, because the threads that fill it do not
  /// wait for that thread. It must not run ahead either: the parity of a stage cannot tell turns of
  /// the ring further apart.
  template <class Smem>
  TW_DEVICE static void skip(Smem& s, int consumer, ring<C.stages>& slot, int blocks) {
    if (thread_id() % warpgroup_threads == 0) {
      ring<C.stages> at = slot;
      for (int k = 0; k < blocks; ++k, at.next()) {
        s.ab_landed[at.stage].wait(at.phase);
        TW_UNROLL
        for (int i = 0; i < readers * loads::loaders; ++i)
          free_slot_of(s, at.stage, i % loads::loaders);
        s.scales.skip(at.stage);
      }
    }
    named_barrier_sync(1 + consumer, warpgroup_threads);
    slot.skip(blocks);
  }

 protected:
  /// On to the next K block of a consumer.
  TW_DEVICE static void next(ring<C.stages>& slot) {
    if constexpr (C.k_turns == 1)
      slot.next();
    else
      slot.template next<C.k_turns>();
  }

  /// Issues the wgmmas of K elements of a K block, from `first_k` on, as a group. acc[f] is
  /// multiplied from the rows first_row + 64 f and the columns from `first_col` on; it keeps its
  /// sums if `accumulate`.
  template <int K, class Sums>
  TW_DEVICE static void multiply(Sums& acc, std::byte* a, std::byte* b, int first_row, int first_k,
                                 bool accumulate, int first_col = 0) {
    fence(acc);
    smem_desc const a_desc = operand_a::desc(smem_addr(a), a_share, first_row, 0);  // (tile_m, K)
    smem_desc const b_desc = operand_b::desc(smem_addr(b), b_share, 0, 0);          // (tile_n, K)
    TW_UNROLL
    for (int k = 0; k < K; k += traits_of(C.a.multiplied).mma_k())
      unrolled<fragments>([&](auto f) {
        wgmma<C.a.multiplied, C.a.major, C.b.major, C.b.multiplied>(
            acc[f],                                                              // (64, N)
            a_desc + operand_a::start_bytes(a_share, wgmma_m * f, first_k + k),  // (64, k)
            b_desc + operand_b::start_bytes(b_share, first_col, first_k + k),    // (N, k)
            accumulate || k > 0);
      });
    wgmma_commit();
  }

  /// The descriptors of stage 0 for a consumer's rows of A, and for B. Made before the loop, they
  /// leave one addition for each stage there.
  struct stage_descs {
    smem_desc a, b;
  };
  template <class Smem>
  TW_DEVICE static stage_descs descs_of(Smem& s, int first_row) {
    return {operand_a::desc(smem_addr(s.a[0]), a_share, first_row, 0),
            operand_b::desc(smem_addr(s.b[0]), b_share, 0, 0)};
  }

  /// Issues the wgmmas of a K block and of fragment F alone as a group: acc = A * B.
  template <int F, class Acc>
  TW_DEVICE static void multiply_fragment(Acc& acc, stage_descs const& first, int stage) {
    wgmma_fence(acc);
    smem_desc const a = first.a.further(stage * C.a_bytes());  // (tile_m, tile_k)
    smem_desc const b = first.b.further(stage * C.b_bytes());  // (tile_n, tile_k)
    TW_UNROLL
    for (int k = 0; k < tile_k; k += traits_of(C.a.multiplied).mma_k())
      wgmma<C.a.multiplied, C.a.major, C.b.major, C.b.multiplied>(
          acc,                                                         // (64, tile_n)
          a.further(operand_a::start_bytes(a_share, wgmma_m * F, k)),  // (64, k)
          b.further(operand_b::start_bytes(b_share, 0, k)),            // (tile_n, k)
          k > 0);
    wgmma_commit();
  }

  /// The registers of acc are wgmma's from here on.
  template <class Sums>
  TW_DEVICE static void fence(Sums& acc) {
    if constexpr (fragments == 1)
      wgmma_fence(acc[0]);
    else
      wgmma_fence(acc[0], acc[1]);
  }

  /// Waits until at most `Pending` wgmma groups are in flight.
  template <int Pending, class Sums>
  TW_DEVICE static void wait(Sums& acc) {
    if constexpr (fragments == 1)
      wgmma_wait<Pending>(acc[0]);
    else
      wgmma_wait<Pending>(acc[0], acc[1]);
  }

  template <class Sums>
  TW_DEVICE static void clear(Sums& acc) {
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int i = 0; i < acc[f].size; ++i) acc[f][i] = 0;
    });
  }

  /// Signals every CTA that loads into this slot that this warpgroup has read it. Relaxed: nothing
  /// was written, and wgmma's reads are complete since wgmma_wait (docs/decisions/0004). With A in
  /// registers each warp signals the one CTA, with release: its lanes have read A.
  template <class Smem>
  TW_DEVICE static void release(Smem& s, int stage) {
    int const t = thread_id() % (warpgroup_threads / readers);
    if (t < loads::loaders) free_slot_of(s, stage, t);
  }

 private:
  template <class Smem>
  TW_DEVICE static void free_slot_of(Smem& s, int stage, int cta) {
    if constexpr (loads::loaders == 1)
      s.slot_free[stage].arrive();
    else
      s.slot_free[stage].arrive_remote_relaxed(cta);
  }
};

/// The main loop of a configuration, a type derived from mainloop_stages. Each file of this folder
/// has the specialisation for one kind, with
///
///   run(p, s, slot, part, acc, issued)   acc = the sum over the K blocks of a consumer's part;
///                                        `issued` is notified when all wgmmas have been issued
template <gemm_config C, mainloop_kind Kind = C.mainloop()>
struct gemm_mainloop;

}  // namespace tw
