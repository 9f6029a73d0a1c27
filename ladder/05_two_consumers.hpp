// SPDX-License-Identifier: Apache-2.0
// 05_two_consumers.hpp  Rung 5: tiles of 128 x 256, shared by two consumers; setmaxnreg.
#pragma once

#include "ladder/ladder.hpp"
#include "ladder/token_barrier.hpp"

namespace ladder {

template <config C = config{}>
struct rung_05 {
  static constexpr int bm = 128, bn = 256, bk = 64, stages = 4, cluster = 1;
  static constexpr int consumers = C.consumers, threads = 128 * (consumers + 1);
  static constexpr layout atom = smem_atom(operand_major::k, smem_swizzle::b128, 16);
  static constexpr layout a_tile = tile_to_shape(atom, make_shape(bm, bk));
  static constexpr layout b_tile = tile_to_shape(atom, make_shape(bn, bk));
  static constexpr tiled_mma of_two = make_tiled_mma(
      find_mma("mma.sm90.m64n256k16.f32.bf16.bf16.ss"), make_layout(make_shape(2, 1, 1)));
  static constexpr tiled_mma of_one = make_tiled_mma(
      find_mma("mma.sm90.m64n256k16.f32.bf16.bf16.ss"), make_layout(make_shape(1, 1, 1)));
  static constexpr tiled_mma mma = consumers == 2 ? of_two : of_one;

  struct smem {
    alignas(1024) bf16 a[stages][bm * bk];
    alignas(1024) bf16 b[stages][bn * bk];
    token_barrier ab_landed[stages];
    token_barrier slot_free[stages];
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map a, b;  // boxes (bm, bk) and (bn, bk)
    bf16* d;
    int m, n, k, ldd;
  };
  static params params_of(problem const& x) {
    return {map_of(x.a, x.m, x.k, x.lda, a_tile, x.where),
            map_of(x.b, x.n, x.k, x.ldb, b_tile, x.where),
            x.d,
            x.m,
            x.n,
            x.k,
            x.ldd};
  }
  static int ctas(problem const& x) { return x.m / bm * (x.n / bn); }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const m = cta_id() / (p.n / bn), n = cta_id() % (p.n / bn);
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) {
        s.ab_landed[i].init(1 + 128 * consumers);  // the producer and every consumer arrive
        s.slot_free[i].init(1 + 128 * consumers);
      }
      fence_mbarrier_init();
    }
    cta_sync();
    if (warpgroup_id() == consumers) {
      if constexpr (C.set_registers) set_max_regs_dec<24>();
      if (thread_id() == 128 * consumers) produce(p, s, m, n);
    } else {
      if (C.set_registers && !has<C>(bug::too_many_registers)) set_max_regs_inc<240>();
      if (has<C>(bug::too_many_registers)) set_max_regs_inc<248>();
      consume(p, s, m, n);
    }
  }

  /// One thread loads K blocks as stages become free.
  TW_DEVICE static void produce(params const& p, smem& s, int m, int n) {
    enter_role("producer");
    ring<stages> slot;
    for (int k = 0; k < p.k / bk; ++k, slot.next()) {
      s.slot_free[slot.stage].wait(s.slot_free[slot.stage].arrive());
      mbarrier& landed = s.ab_landed[slot.stage].barrier;
      s.ab_landed[slot.stage].arrive_expect_tx(sizeof(s.a[0]) + sizeof(s.b[0]));
      tma_load(s.a[slot.stage], p.a, landed, tma_coord<2>{{k * bk, m * bm}});
      tma_load(s.b[slot.stage], p.b, landed, tma_coord<2>{{k * bk, n * bn}});
    }
  }

  /// Each consumer multiplies its 64 rows of the K blocks as they land.
  TW_DEVICE static void consume(params const& p, smem& s, int m, int n) {
    enter_role("consumer");
    for (int i = 0; i < stages; ++i) s.slot_free[i].arrive();  // at first all stages are free
    accumulators<mma, bm, bn> sums;
    set_to_zero(sums);
    ring<stages> slot;
    for (int k = 0; k < p.k / bk; ++k, slot.next()) {
      s.ab_landed[slot.stage].wait(s.ab_landed[slot.stage].arrive());
      auto const sA = make_tensor<a_tile>(make_smem_ptr<1024>(s.a[slot.stage]));  // (bm, bk)
      auto const sB = make_tensor<b_tile>(make_smem_ptr<1024>(s.b[slot.stage]));  // (bn, bk)
      fence(sums);
      gemm<mma>(sA, sB, sums, true);
      wgmma_commit();
      wait(sums);
      s.slot_free[slot.stage].arrive();
    }
    store(p, sums, m, n);
  }

  /// Each thread stores the elements that wgmma left in its registers.
  template <class Sums>
  TW_DEVICE static void store(params const& p, Sums& sums, int m, int n) {
    auto const gD = local_tile<tile(bm, bn)>(view_of_d<C>(p.d, p.m, p.n, p.ldd), m, n);
    auto const tD = partition_c<mma>(gD, thread_id());                   // (128, rows, 1)
    constexpr int rows = std::remove_reference_t<decltype(sums)>::rows;  // of 64 x 256
    TW_UNROLL
    for (int v = 0; v < 128 * rows; ++v)
      tD(v % 128, v / 128, 0) = rounded(sums(v % 128, v / 128, 0));
  }
};

}  // namespace ladder
