// SPDX-License-Identifier: Apache-2.0
// ladder_kernels.hpp  Small kernels without specialised warps, and ways to break them: a cp.async
//                     and ldmatrix pipeline, a double-buffered wgmma loop with A from shared memory
//                     or registers, and two warpgroups that take turns.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::mutants {

enum class ladder_mutation : int {
  none,
  wait_too_shallow,
  no_sync,
  stage_reused_early,
  no_empty_commit,
  refilled_before_wait,
  phase_never_flips,
  read_before_wait,
  no_wgmma_fence,
  no_landed_wait,
  no_proxy_fence,
  no_order_barrier,
  wrong_barrier_id,
  wrong_barrier_count,
  fragment_overwritten,
  never_initialised,
  initialised_in_last_step,
  initialised_in_second_tile,
  no_wgmma_commit,
  other_pattern,
  count,
};

struct ladder_params {
  tensor_map a, b;          // of the wgmma loops: boxes (64, 64) of bf16
  std::uint16_t const* in;  // of the pipeline: 8 tiles of 16 x 64
  float* out;
  ladder_mutation broken;
};

template <ladder_mutation Only>
struct ladder_kernel {
  using params = ladder_params;
  TW_DEVICE static bool is(params const& p, ladder_mutation m) {
    return Only == ladder_mutation::count ? p.broken == m : Only == m;
  }
};

/// Sums 8 tiles of 16 x 64 integers through 3 stages: cp.async in, ldmatrix out.
template <ladder_mutation Only = ladder_mutation::count>
struct copy_pipeline : ladder_kernel<Only> {
  using typename ladder_kernel<Only>::params;
  using ladder_kernel<Only>::is;
  static constexpr int threads = 128, cluster = 1, stages = 3, tiles = 8, elems = 16 * 64;
  struct smem {
    alignas(128) std::uint16_t tile[stages][elems];
  };
  static constexpr int smem_bytes = sizeof(smem);

  /// 16 bytes of a tile: 128-byte rows, their chunks swizzled so that a column is in all banks.
  TW_DEVICE static std::uint16_t* at(std::uint16_t* tile, int row, int chunk) {
    return tile + row * 64 + 8 * (chunk ^ (row & 7));
  }
  /// Each thread copies 16 bytes.
  TW_DEVICE static void fetch(params const& p, smem& s, int k) {
    int const row = thread_id() / 8, chunk = thread_id() % 8;
    if (k < tiles)
      cp_async<16>(at(s.tile[k % stages], row, chunk), p.in + k * elems + 8 * thread_id());
    if (k < tiles || !is(p, ladder_mutation::no_empty_commit)) cp_async_commit();
  }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    bool const early = is(p, ladder_mutation::stage_reused_early);
    for (int k = 0; k + 1 < stages; ++k) fetch(p, s, k);
    int sum[8] = {};
    for (int k = 0; k < tiles; ++k) {
      if (early) fetch(p, s, k + stages - 1);
      if (is(p, ladder_mutation::wait_too_shallow) || early)
        cp_async_wait<stages - 1>();
      else
        cp_async_wait<stages - 2>();
      if (!is(p, ladder_mutation::no_sync)) cta_sync();
      // Warp w reads columns 16 w to 16 w + 15: four 8 x 8 matrices.
      b32<4> const v =
          ldmatrix<4>(at(s.tile[k % stages], lane_id() % 16, 2 * warp_id() + lane_id() / 16));
      for (int i = 0; i < 4; ++i) {
        sum[2 * i] += static_cast<int>(v.r[i] & 0xFFFFU);
        sum[2 * i + 1] += static_cast<int>(v.r[i] >> 16);
      }
      if (!early) fetch(p, s, k + stages - 1);
    }
    for (int i = 0; i < 8; ++i) {
      int const row = lane_id() / 4 + 8 * (i / 2 % 2);
      int const column = 16 * warp_id() + 8 * (i / 4) + 2 * (lane_id() % 4) + i % 2;
      p.out[row * 64 + column] = static_cast<float>(sum[i]);
    }
  }
};

/// A 64 x 64 x 256 GEMM with two stages that one warpgroup fills and multiplies in turn.
template <bool FromRegisters, ladder_mutation Only = ladder_mutation::count>
struct double_buffer : ladder_kernel<Only> {
  using typename ladder_kernel<Only>::params;
  using ladder_kernel<Only>::is;
  static constexpr int threads = 128, cluster = 1, k_tiles = 4;
  struct smem {
    alignas(1024) std::uint16_t a[2][64 * 64];
    alignas(1024) std::uint16_t b[2][64 * 64];
    mbarrier landed[2];
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void fill(params const& p, smem& s, int k) {
    if (thread_id() != 0 || k >= k_tiles) return;
    mbarrier& landed = s.landed[k % 2];
    landed.arrive_expect_tx(sizeof(s.a[0]) + sizeof(s.b[0]));
    tma_load(s.a[k % 2], p.a, landed, tma_coord<2>{{64 * k, 0}});
    tma_load(s.b[k % 2], p.b, landed, tma_coord<2>{{64 * k, 0}});
  }

  /// This thread's part of A for step kk: rows 16 w to 16 w + 15 of warp w.
  TW_DEVICE static b32<4> fragment(params const& p, std::uint16_t const* a, int kk) {
    int const row = 16 * warp_id() + lane_id() % 16, chunk = 2 * kk + lane_id() / 16;
    int const pattern = is(p, ladder_mutation::other_pattern) ? row / 2 & 3 : row & 7;
    return ldmatrix<4>(a + row * 64 + 8 * (chunk ^ pattern));
  }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      for (mbarrier& b : s.landed) b.init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    fill(p, s, 0);
    fill(p, s, 1);
    accumulator<64> acc;
    for (int k = 0; k < k_tiles; ++k) {
      std::uint32_t const phase =
          is(p, ladder_mutation::phase_never_flips) ? 0 : static_cast<std::uint32_t>(k) / 2 & 1U;
      if (!is(p, ladder_mutation::no_landed_wait)) s.landed[k % 2].wait(phase);
      smem_desc const a = make_smem_desc(smem_addr(s.a[k % 2]), 16, 1024, swizzle_mode::b128);
      smem_desc const b = make_smem_desc(smem_addr(s.b[k % 2]), 16, 1024, swizzle_mode::b128);
      b32<4> regs[4] = {};
      if constexpr (FromRegisters)
        for (int kk = 0; kk < 4; ++kk) regs[kk] = fragment(p, s.a[k % 2], kk);
      if (!is(p, ladder_mutation::no_wgmma_fence)) wgmma_fence(acc);
      TW_UNROLL
      for (int kk = 0; kk < 4; ++kk) {
        bool add = k > 0 || kk > 0;
        if (is(p, ladder_mutation::never_initialised)) add = true;
        if (is(p, ladder_mutation::initialised_in_second_tile)) add = k != 1 || kk > 0;
        if (is(p, ladder_mutation::initialised_in_last_step)) add = k + 1 < k_tiles || kk < 3;
        if constexpr (FromRegisters)
          wgmma<elem::bf16, operand_major::k>(acc, regs[kk], b + 32 * kk, add);
        else
          wgmma<elem::bf16, operand_major::k, operand_major::k>(acc, a + 32 * kk, b + 32 * kk, add);
      }
      if (!is(p, ladder_mutation::no_wgmma_commit)) wgmma_commit();
      if constexpr (FromRegisters)
        if (is(p, ladder_mutation::fragment_overwritten)) regs[0] = fragment(p, s.a[k % 2], 1);
      bool const early = is(p, ladder_mutation::refilled_before_wait);
      if (!early && (k + 1 < k_tiles || !is(p, ladder_mutation::read_before_wait)))
        wgmma_wait<0>(acc);
      if (FromRegisters && !is(p, ladder_mutation::no_proxy_fence)) fence_proxy_async();
      if (!is(p, ladder_mutation::no_sync)) cta_sync();
      fill(p, s, k + 2);
      if (early) wgmma_wait<0>(acc);
    }
    int const row = 16 * warp_id() + lane_id() / 4, column = 2 * (lane_id() % 4);
    for (int i = 0; i < 32; ++i)
      p.out[(row + 8 * (i / 2 % 2)) * 64 + column + 8 * (i / 4) + i % 2] = acc[i];
    if (is(p, ladder_mutation::read_before_wait)) wgmma_wait<0>(acc);
  }
};

/// Two warpgroups use one buffer in turn, four times each, in the order of two named barriers.
template <ladder_mutation Only = ladder_mutation::count>
struct take_turns : ladder_kernel<Only> {
  using typename ladder_kernel<Only>::params;
  using ladder_kernel<Only>::is;
  static constexpr int threads = 256, cluster = 1, rounds = 4;
  struct smem {
    alignas(128) float box[128];
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const c = warpgroup_id(), t = thread_id() % 128;
    bool const ordered = !is(p, ladder_mutation::no_order_barrier);
    int const both = is(p, ladder_mutation::wrong_barrier_count) ? 128 : 256;
    int const other = is(p, ladder_mutation::wrong_barrier_id) ? 1 + c : 2 - c;
    if (ordered && c == 1) named_barrier_arrive(1, both);  // warpgroup 0 begins
    for (int round = 0; round < rounds; ++round) {
      if (ordered) named_barrier_sync(1 + c, both);
      s.box[t] = static_cast<float>(1000 * c + 100 * round + t);
      named_barrier_sync(3 + c, 128);
      p.out[(2 * round + c) * 128 + t] = s.box[127 - t];
      if (ordered && (c == 0 || round + 1 < rounds)) named_barrier_arrive(other, both);
    }
  }
};

}  // namespace tw::mutants
