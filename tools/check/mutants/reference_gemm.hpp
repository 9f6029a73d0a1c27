// SPDX-License-Identifier: Apache-2.0
// reference_gemm.hpp  A correct GEMM, and 24 ways to break it: they test the emulator.
//
// D[M,N] = A[M,K] B[N,K]^T, bf16, tile 128 x 256 x 64, 4 stages, 384 threads, clusters of 2 CTAs
// along M. Each CTA loads its own A tile and half of the common B tile, which it multicasts. Each
// mutant changes what its name says and nothing else; the comments give the labels of the table in
// docs/mutants.md.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw::mutants {

enum class mutation : int {
  none,
  expect_tx_too_small,
  expect_tx_too_large,
  phase_never_flips,
  last_stage_never_released,
  no_proxy_fence,
  accumulators_read_early,
  stage_released_early,
  coordinates_swapped,
  wrong_descriptor_swizzle,
  no_barrier_at_exit,
  staging_buffer_reused,
  stmatrix_not_swizzled,
  no_barrier_before_store,
  exit_without_bulk_wait,
  no_init_fence,
  no_wgmma_fence,
  cta_barrier_after_init,
  free_count_forgets_peer,
  multicast_only_to_itself,
  release_own_cta_twice,
  no_barrier_after_read_wait,
  no_landed_wait,
  no_free_wait,
  landed_parity_inverted,
  count,
};

struct gemm_params {
  tensor_map a, b, d;  // boxes (64, 128) of A, (64, 128) of B, (64, 64) of D
  int m_clusters, n_tiles, k_tiles;
  mutation broken;
};

/// Only: the mutation compiled in; `count`: the one that the parameters name.
template <mutation Only = mutation::count>
struct reference_gemm {
  static constexpr int stages = 4, tile_m = 128, tile_n = 256, tile_k = 64;
  static constexpr int threads = 384, cluster = 2;
  static constexpr int stage_bytes = (tile_m + tile_n) * tile_k * 2;

  struct smem {
    alignas(1024) std::uint16_t a[stages][tile_m * tile_k];
    alignas(1024) std::uint16_t b[stages][tile_n * tile_k];
    alignas(1024) std::uint16_t d[2][2][64 * 64];
    mbarrier ab_landed[stages];
    mbarrier slot_free[stages];
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = gemm_params;

  TW_DEVICE static bool is(params const& p, mutation m) {
    return Only == mutation::count ? p.broken == m : Only == m;
  }

  TW_DEVICE static void next(params const& p, ring<stages>& slot) {
    std::uint32_t const phase = slot.phase;
    slot.next();
    if (is(p, mutation::phase_never_flips)) slot.phase = phase;
  }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) {
        s.ab_landed[i].init(1);
        s.slot_free[i].init(is(p, mutation::free_count_forgets_peer) ? 2 : 4);
      }
      if (!is(p, mutation::no_init_fence)) fence_mbarrier_init();
    }
    if (is(p, mutation::cta_barrier_after_init))
      cta_sync();
    else
      cluster_sync();
    if (warpgroup_id() == 0) {
      set_max_regs_dec<40>();
      if (warp_id() == 0 && elect_one()) load(p, s);
    } else {
      set_max_regs_inc<232>();
      math(p, s, warpgroup_id() - 1);
    }
    if (!is(p, mutation::no_barrier_at_exit)) cluster_sync();
  }

  TW_DEVICE static void load(params const& p, smem& s) {
    enter_role("load");
    int const rank = cluster_rank();
    int bytes = stage_bytes;
    if (is(p, mutation::expect_tx_too_small)) bytes -= 8192;
    if (is(p, mutation::expect_tx_too_large)) bytes += 8192;
    std::uint16_t const mask = is(p, mutation::multicast_only_to_itself)
                                   ? static_cast<std::uint16_t>(1U << rank)
                                   : std::uint16_t{0b11};
    ring<stages> slot;
    for (int i = cluster_id(); i < p.m_clusters * p.n_tiles; i += cluster_count()) {
      int const m = (i % p.m_clusters * cluster + rank) * tile_m, n = i / p.m_clusters * tile_n;
      for (int k = 0; k < p.k_tiles; ++k, next(p, slot)) {
        if (!is(p, mutation::no_free_wait)) s.slot_free[slot.stage].wait(slot.phase ^ 1U);
        mbarrier& landed = s.ab_landed[slot.stage];
        landed.arrive_expect_tx(bytes);
        tma_coord<2> at{{k * tile_k, m}};
        if (is(p, mutation::coordinates_swapped)) at = {{m, k * tile_k}};
        tma_load(s.a[slot.stage], p.a, landed, at);
        tma_load_multicast(s.b[slot.stage] + rank * 128 * tile_k, p.b, landed,
                           tma_coord<2>{{k * tile_k, n + rank * 128}}, mask);
      }
    }
  }

  TW_DEVICE static void release(params const& p, smem& s, int stage) {
    int const t = thread_id() % 128;
    if (t < 2)
      s.slot_free[stage].arrive_remote_relaxed(
          is(p, mutation::release_own_cta_twice) ? cluster_rank() : t);
  }

  TW_DEVICE static void math(params const& p, smem& s, int consumer) {
    enter_role("math");
    bool const early = is(p, mutation::stage_released_early);
    swizzle_mode const mode =
        is(p, mutation::wrong_descriptor_swizzle) ? swizzle_mode::b64 : swizzle_mode::b128;
    ring<stages> slot;
    bool stored = false;
    for (int i = cluster_id(); i < p.m_clusters * p.n_tiles; i += cluster_count()) {
      accumulator<tile_n> acc;  // (64, 256)
      int held = -1;
      for (int k = 0; k < p.k_tiles; ++k, next(p, slot)) {
        if (!is(p, mutation::no_landed_wait))
          s.ab_landed[slot.stage].wait(is(p, mutation::landed_parity_inverted) ? slot.phase ^ 1U
                                                                               : slot.phase);
        smem_desc const a =
            make_smem_desc(smem_addr(s.a[slot.stage] + consumer * 64 * tile_k), 16, 1024, mode);
        smem_desc const b = make_smem_desc(smem_addr(s.b[slot.stage]), 16, 1024, mode);
        if (!is(p, mutation::no_wgmma_fence)) wgmma_fence(acc);
        TW_UNROLL
        for (int kk = 0; kk < 4; ++kk)
          wgmma<elem::bf16, operand_major::k, operand_major::k>(acc, a + 32 * kk, b + 32 * kk,
                                                                k > 0 || kk > 0);
        wgmma_commit();
        if (early) release(p, s, slot.stage);
        wgmma_wait<1>(acc);
        if (!early && held >= 0) release(p, s, held);
        held = slot.stage;
      }
      if (!is(p, mutation::accumulators_read_early)) wgmma_wait<0>(acc);
      if (!early && !is(p, mutation::last_stage_never_released)) release(p, s, held);
      int const m = (i % p.m_clusters * cluster + cluster_rank()) * tile_m + 64 * consumer;
      epilogue(p, s, consumer, m, i / p.m_clusters * tile_n, acc);
      stored = true;
    }
    if (stored && thread_id() % 128 == 0 && !is(p, mutation::exit_without_bulk_wait))
      tma_store_wait_read<0>();
  }

  TW_DEVICE static void epilogue(params const& p, smem& s, int consumer, int m, int n,
                                 accumulator<tile_n>& acc) {
    bool const leader = thread_id() % 128 == 0;
    int const row = 16 * (warp_id() % 4) + lane_id() % 16, half = lane_id() / 16;
    int const flip = is(p, mutation::stmatrix_not_swizzled) ? 0 : row & 7;
    TW_UNROLL
    for (int j = 0; j < 4; ++j) {
      std::uint16_t* const box = s.d[consumer][j % 2];  // (64, 64)
      if (leader && !is(p, mutation::staging_buffer_reused)) tma_store_wait_read<1>();
      if (!is(p, mutation::no_barrier_after_read_wait)) named_barrier_sync(1 + consumer, 128);
      TW_UNROLL
      for (int q = 0; q < 4; ++q) {
        int const i = 32 * j + 8 * q;
        constexpr elem t = elem::bf16;
        stmatrix<4>(box + row * 64 + 8 * ((2 * q + half) ^ flip),
                    b32<4>{{pack2<t>(acc[i], acc[i + 1]), pack2<t>(acc[i + 2], acc[i + 3]),
                            pack2<t>(acc[i + 4], acc[i + 5]), pack2<t>(acc[i + 6], acc[i + 7])}});
      }
      if (!is(p, mutation::no_proxy_fence)) fence_proxy_async();
      if (!is(p, mutation::no_barrier_before_store)) named_barrier_sync(1 + consumer, 128);
      if (leader) {
        tma_store(p.d, box, tma_coord<2>{{n + 64 * j, m}});
        tma_store_commit();
      }
    }
  }
};

}  // namespace tw::mutants
