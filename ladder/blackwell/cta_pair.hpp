// SPDX-License-Identifier: Apache-2.0
// cta_pair.hpp  Rung 14: two CTAs multiply together. A tile of 256 x 256 for each pair: a CTA loads
//               its 128 rows of A and half of the columns of B. For sm_100f: it has run in the
//               emulator alone.
#pragma once

#include "ladder/ladder.hpp"
#include "tilewright/atom/umma_idesc.hpp"

namespace ladder {

struct rung_14 {
  static constexpr int pair = 2, bm = 256, bn = 256, bk = 64, stages = 6, cluster = pair;
  static constexpr int rows = bm / pair, columns = bn / pair;  // that a CTA loads
  static constexpr int threads = 32 * 6;                       // load, multiply, four warps store
  static constexpr int step = 16, steps = bk / step;           // of K, in one multiply
  static constexpr layout atom = smem_atom(operand_major::k, smem_swizzle::b128, 16);
  static constexpr layout a_tile = tile_to_shape(atom, make_shape(rows, bk));
  static constexpr layout b_tile = tile_to_shape(atom, make_shape(columns, bk));
  static constexpr std::uint32_t idesc =
      umma_idesc{.d_format = 1, .a_format = 1, .b_format = 1, .n = bn, .m = bm}.bits();

  struct smem {
    alignas(1024) bf16 a[stages][rows * bk];
    alignas(1024) bf16 b[stages][columns * bk];
    mbarrier ab_landed[stages];  // of the even CTA, for both
    mbarrier slot_free[stages];
    mbarrier sums_done;
    std::uint32_t tensor_at;
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map a, b;  // boxes (rows, bk) and (columns, bk)
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
  static int ctas(problem const& x) { return pair * (x.m / bm) * (x.n / bn); }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) {
        s.ab_landed[i].init(1);  // the loading thread of the even CTA arrives
        s.slot_free[i].init(1);  // a commit arrives, in both CTAs
      }
      s.sums_done.init(1);
      fence_mbarrier_init();
    }
    cluster_sync();  // the peer has started, and its barriers are there
    if (warp_id() == 1) {
      tmem_alloc<pair>(&s.tensor_at, bn);
      tmem_relinquish<pair>();
    }
    cta_sync();  // tensor_at is there
    int const m = cluster_id() % (p.m / bm) * bm + cluster_rank() * rows;
    int const n = cluster_id() / (p.m / bm) * bn;
    if (warp_id() == 0) {
      if (elect_one()) load(p, s, m, n + cluster_rank() * columns);
    } else if (warp_id() == 1) {
      if (cluster_rank() == 0) multiply(p, s);
    } else {
      store(p, s, m, n);
    }
    warp_sync();
    cluster_sync();  // the peer's operands and sums were read
    if (warp_id() == 1) tmem_dealloc<pair>(s.tensor_at, bn);
  }

  /// Each CTA loads its part. The even CTA's barrier counts the bytes of both.
  TW_DEVICE static void load(params const& p, smem& s, int m, int n) {
    enter_role("load");
    ring<stages> slot;
    for (int k = 0; k < p.k / bk; ++k, slot.next()) {
      s.slot_free[slot.stage].wait(slot.phase ^ 1U);  // passes at once in the first turn
      mbarrier& landed = s.ab_landed[slot.stage];
      if (cluster_rank() == 0) landed.arrive_expect_tx(pair * (sizeof(s.a[0]) + sizeof(s.b[0])));
      tma_load_pair(s.a[slot.stage], p.a, landed, tma_coord<2>{{k * bk, m}});
      tma_load_pair(s.b[slot.stage], p.b, landed, tma_coord<2>{{k * bk, n}});
    }
  }

  /// One thread of the even CTA multiplies for both: the same offsets in both shared memories. A
  /// commit arrives in both CTAs.
  TW_DEVICE static void multiply(params const& p, smem& s) {
    enter_role("multiply");
    ring<stages> slot;
    for (int k = 0; k < p.k / bk; ++k, slot.next()) {
      s.ab_landed[slot.stage].wait(slot.phase);
      if (elect_one()) {
        for (int i = 0; i < steps; ++i)
          umma<umma_kind::f16, pair>(s.tensor_at, operand(s.a[slot.stage], i),
                                     operand(s.b[slot.stage], i), idesc, k > 0 || i > 0);
        umma_commit_multicast<pair>(s.slot_free[slot.stage], 0b11);
        if (k == p.k / bk - 1) umma_commit_multicast<pair>(s.sums_done, 0b11);
      }
      warp_sync();
    }
  }
  /// Step i of a tile: 8 rows of 128 bytes are 1024 bytes apart.
  TW_DEVICE static umma_desc operand(bf16 const* tile, int i) {
    return make_umma_desc(smem_addr(tile), 16, 1024, swizzle_mode::b128) + i * step * 2;
  }

  /// Each CTA has its 128 rows, of all columns, in its own tensor memory.
  TW_DEVICE static void store(params const& p, smem& s, int m, int n) {
    enter_role("store");
    int const lanes = warp_id() % 4 * 32;
    bf16* const row = p.d + std::int64_t{m + lanes + lane_id()} * p.ldd + n;
    s.sums_done.wait(0);
    tcgen05_fence_after();
    for (int c = 0; c < bn; c += 32) {
      auto sums = tmem_load<tmem_shape::l32x32b, 32>(tmem_at(s.tensor_at, lanes, c));
      tmem_wait_load(sums);
      TW_UNROLL
      for (int i = 0; i < 32; ++i) row[c + i] = rounded(tmem_float(sums.r[i]));
    }
    tcgen05_fence_before();
  }
};

}  // namespace ladder
