// SPDX-License-Identifier: Apache-2.0
// nvfp4_gemm.hpp  The main loop of an NVFP4 GEMM, complete: D = scale * A B in float32, a tile of
//                 128 x 128 for each CTA. K a multiple of 16; M and N multiples of 128.
//
// Differences from a loop over wgmma, which descriptions often get wrong:
//  - Scale factors are e4m3 for 16 elements along K, not float32 for 16 rows. The float32 scale of
//    each matrix is applied once, in the epilogue.
//  - The multiply reads factors from tensor memory: tmem_copy brings them there from shared memory,
//    512 bytes for 128 rows and four blocks of K, in the thread that multiplies.
//  - One thread issues the multiplies. There is no warpgroup, and no fence or wait of one: a commit
//    arrives at an mbarrier when the stage has been read.
//  - The sums are in tensor memory, not in registers.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/pipeline/ring.hpp"

struct nvfp4_gemm {
  static constexpr int rows = 128, stages = 3;   // of a tile of A and of B
  static constexpr int tile_k = 256, steps = 4;  // 128 bytes of a row; multiplies of K = 64
  static constexpr int atom = 512;               // bytes of factors: of one multiply
  static constexpr int columns = 256;            // of tensor memory: 128 sums, 16 + 16 factors
  static constexpr int landed_bytes = 2 * (rows * tile_k / 2 + steps * atom);
  static constexpr int threads = 128, cluster = 1;

  struct params {
    tw::tensor_map a, b;      // (k, row) of e2m1, boxes of 256 x 128 with the 128-byte swizzle
    tw::tensor_map sfa, sfb;  // bytes of ue4m3 (256, 2 * K / 64, row / 128), boxes of 256 x 8 x 1
    float scale;              // of A times that of B
    float* d;                 // row-major
    int n, k_blocks;          // columns of D; of 256 elements
  };
  struct smem {
    alignas(1024) std::byte a[stages][rows * tile_k / 2], b[stages][rows * tile_k / 2];
    alignas(128) std::byte sfa[stages][steps * atom], sfb[stages][steps * atom];
    tw::mbarrier landed[stages], slot_free[stages], done;
    std::uint32_t tensor_at;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = tw::dynamic_smem<smem>();
    int const warp = tw::warp_id();
    if (warp == 0 && tw::elect_one()) {
      for (int i = 0; i < stages; ++i) {
        s.landed[i].init(1);
        s.slot_free[i].init(1);
      }
      s.done.init(1);
      tw::fence_mbarrier_init();
    }
    if (warp == 1) tw::tmem_alloc(&s.tensor_at, columns);
    tw::cta_sync();
    std::uint32_t const sums = s.tensor_at;
    int const tiles_n = p.n / rows, m = tw::cta_id() / tiles_n, n = tw::cta_id() % tiles_n;
    if (warp == 0 && tw::elect_one()) load(p, s, m, n);
    if (warp == 1 && tw::elect_one()) multiply(p, s, sums);
    tw::warp_sync();
    tw::enter_role("store");
    s.done.wait(0);
    tw::tcgen05_fence_after();
    float* const d = p.d + (std::int64_t{m} * rows + tw::thread_id()) * p.n + n * rows;
    TW_NO_UNROLL
    for (int c = 0; c < rows; c += 32) {  // thread t has row t of the tile
      auto x = tw::tmem_load<tw::tmem_shape::l32x32b, 32>(tw::tmem_at(sums, 32 * warp, c));
      tw::tmem_wait_load(x);
      TW_UNROLL
      for (int i = 0; i < 32; ++i) d[c + i] = p.scale * tw::tmem_float(x.r[i]);
    }
    tw::cta_sync();
    if (warp == 1) tw::tmem_dealloc(sums, columns);
  }

  TW_DEVICE static void load(params const& p, smem& s, int m, int n) {
    tw::enter_role("load");
    tw::ring<stages> at;
    for (int k = 0; k < p.k_blocks; ++k, at.next()) {
      tw::mbarrier& landed = s.landed[at.stage];
      s.slot_free[at.stage].wait(at.phase ^ 1U);
      landed.arrive_expect_tx(landed_bytes);
      tw::tma_load(s.a[at.stage], p.a, landed, tw::tma_coord{k * tile_k, m * rows});
      tw::tma_load(s.b[at.stage], p.b, landed, tw::tma_coord{k * tile_k, n * rows});
      tw::tma_load(s.sfa[at.stage], p.sfa, landed, tw::tma_coord{0, 2 * steps * k, m});
      tw::tma_load(s.sfb[at.stage], p.sfb, landed, tw::tma_coord{0, 2 * steps * k, n});
    }
  }

  TW_DEVICE static void multiply(params const& p, smem& s, std::uint32_t sums) {
    tw::enter_role("multiply");
    constexpr std::uint32_t idesc =
        tw::umma_scaled_idesc{.a_format = 1, .b_format = 1, .n = rows, .m = rows, .ue8m0 = false}
            .bits();
    auto const tile = [](void const* at, int step) {
      return tw::make_umma_desc(tw::smem_addr(at), 16, 1024, tw::swizzle_mode::b128) + 32 * step;
    };
    auto const copy = [](std::uint32_t to, std::byte const* factors) {
      tw::tmem_copy<tw::tmem_copy_shape::c32x128b_x4>(
          to, tw::make_umma_desc(tw::smem_addr(factors), 16, 128, tw::swizzle_mode::none));
    };
    tw::ring<stages> at;
    for (int k = 0; k < p.k_blocks; ++k, at.next()) {
      s.landed[at.stage].wait(at.phase);
      TW_UNROLL
      for (int step = 0; step < steps; ++step) {  // four columns of factors for each multiply
        std::uint32_t const sfa = tw::tmem_at(sums, 0, 128 + 4 * step), sfb = sfa + 4 * steps;
        copy(sfa, s.sfa[at.stage] + step * atom);
        copy(sfb, s.sfb[at.stage] + step * atom);
        tw::umma_scaled<tw::umma_kind::mxf4nvf4, 16>(sums, tile(s.a[at.stage], step),
                                                     tile(s.b[at.stage], step), idesc, sfa, sfb,
                                                     k > 0 || step > 0);
      }
      tw::umma_commit(s.slot_free[at.stage]);  // also orders the copies of the next stage
    }
    tw::umma_commit(s.done);
  }
};
