// SPDX-License-Identifier: Apache-2.0
// gemm.hpp  The Blackwell GEMM: D = alpha * A * B + beta * C, or a fused epilogue. A persistent
//           kernel for one CTA or a CTA pair with three roles: a warp that loads, a warp that
//           issues the multiplies, four warps of the epilogue. Two accumulators in tensor memory,
//           so that the epilogue of a tile overlaps the multiplies of the next one.
//
//   warp 0     loads A and B of a stage           waits for slot_free, arrives at ab_landed
//   warp 1     multiplies                         waits for ab_landed, commits to slot_free; waits
//                                                 for acc_free, commits to acc_full
//   warps 2-5  tensor memory -> registers ->      wait for acc_full, arrive at acc_free
//              shared memory -> D
//   warp 6     with cluster launch control:       waits for answer_free; all others wait for
//              requests tiles ahead               answered, and arrive at answer_free
//
// A pair computes 256 rows: each CTA loads and keeps 128 of them, and half of the columns of B. The
// even CTA issues the multiplies of both, and its ab_landed and acc_free count for both.
// Without block scales (mainloop/tile_sums.hpp) an accumulator holds a tile. With them
// (mainloop/block_sums.hpp) it holds one K block, and there are three: warps 2-5 add them, and each
// commit of warp 1 is to slot_free and acc_full.
// This kernel has not run on hardware: the emulator executes it, and ptxas assembles it.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/sm100/block_scales.hpp"
#include "tilewright/kernel/sm100/loads.hpp"
#include "tilewright/kernel/sm100/mainloop/block_sums.hpp"
#include "tilewright/kernel/sm100/mainloop/tile_sums.hpp"
#include "tilewright/kernel/sm100/record.hpp"
#include "tilewright/kernel/sm100/roles.hpp"
#include "tilewright/kernel/sm100/tiles.hpp"
#include "tilewright/pipeline/ring.hpp"
#include "tilewright/problem/precision.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

/// The kernel, with or without a record of its stages (record.hpp).
template <sm100_config C, class Profile>
struct gemm_sm100_kernel {
  using params = typename Profile::template params<sm100_params>;
  using record = sm100_record<Profile>;
  using store = sm100_epilogue<C>;

  static constexpr int accumulators = C.accumulators();
  using roles = sm100_roles<C.ctas, C.tile_n, accumulators, store>;
  using tiles = sm100_tiles<C>;
  using loads = sm100_loads<C, roles>;
  using mainloop = sm100_mainloop<C, roles, Profile>;
  using operand_a = typename loads::operand_a;
  using operand_b = typename loads::operand_b;

  static constexpr int load_warp = roles::load_warp, multiply_warp = roles::multiply_warp;
  static constexpr int epilogue_warps = roles::epilogue_warps;
  static constexpr int request_warp = roles::request_warp;
  static constexpr int threads = C.threads();
  static constexpr int cluster = C.ctas;
  static constexpr int rows = roles::rows;  // of A and D in a CTA
  static constexpr int a_bytes = operand_a::bytes(rows), b_bytes = operand_b::bytes(C.b_share());
  static constexpr int multiply_k = sm100_multiply<C, roles>::multiply_k;

  struct smem {
    alignas(swizzle_pattern_bytes) std::byte a[C.stages][a_bytes];
    alignas(swizzle_pattern_bytes) std::byte b[C.stages][b_bytes];
    alignas(swizzle_pattern_bytes) std::byte d[epilogue_warps][roles::boxes][store::box_bytes];
    [[no_unique_address]] column_scales_smem<C, epilogue_warps> scales;
    mbarrier ab_landed[C.stages], slot_free[C.stages];
    mbarrier acc_full[accumulators], acc_free[accumulators];
    [[no_unique_address]] typename tiles::memory next;
    std::uint32_t tensor_at;
    [[no_unique_address]] typename Profile::template smem<record::roles> profile;
  };
  static constexpr int smem_bytes = sizeof(smem);

  static_assert(is_fp8(C.d) || (!C.operands().scales && is_wide_float(C.d)),
                "[TW0270] the sm100 kernel stores bf16, f16, f32, e4m3 or e5m2; with scales an "
                "8-bit type");
  static_assert(C.a.stored == C.a.multiplied && C.b.stored == C.b.multiplied &&
                    C.a.from == operand_source::shared_memory &&
                    C.b.from == operand_source::shared_memory &&
                    (C.b.multiplied == C.a.multiplied ||
                     C.b.multiplied == other_of_pair(C.a.multiplied)),
                "[TW0270] the sm100 kernel multiplies A and B as they are stored, from shared "
                "memory; they have one type, or are e4m3 and e5m2");
  static_assert((C.ctas == 1 || C.ctas == 2) &&
                    (C.tile_n == 64 || C.tile_n == 128 || C.tile_n == 256),
                "[TW0270] the sm100 kernel has 1 or 2 CTAs and 64, 128 or 256 columns");
  static_assert(C.d_cols() % store::cols == 0,
                "[TW0270] a tile of the sm100 kernel has whole boxes of D, of 128 bytes of a row");
  static_assert(!C.gated() || !C.b.is_mn_major(),
                "[TW0270] with a gate B of the sm100 kernel is K-major");
  static_assert(!C.b.is_mn_major() || C.b_share() % operand_b::span == 0,
                "[TW0270] a CTA of the sm100 kernel loads whole swizzle spans of an MN-major B");
  static_assert(!C.block_scales || (is_fp8(C.a.multiplied) && C.tile_k() == scale_block_k),
                "[TW0270] block scales of the sm100 kernel belong to 8-bit floats");
  static_assert(C.stages >= 2 && smem_bytes <= max_smem_bytes,
                "[TW0206] the stages and the staging buffers need more than 227 KiB of smem");

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const warp = warp_id();
    set_up(p, s, warp);
    std::uint32_t const tensor = s.tensor_at;
    if (warp == load_warp) {
      if (elect_one()) load(p, s);
    } else if (warp == multiply_warp) {
      if (C.ctas == 1 || cluster_rank() == 0) mainloop::multiply(p, s, tensor);
    } else if (warp < request_warp) {
      mainloop::epilogue(p, s, tensor, warp);
    } else if constexpr (C.dynamic) {
      if (elect_one()) tiles::request(s.next);
    }
    roles::template free_tensor_memory<C.tensor_columns()>(warp, tensor);
    for (int role = 0; role < record::roles; ++role) Profile::finish(p, s.profile, role);
  }

 private:
  TW_DEVICE static void set_up(params const& p, smem& s, int warp) {
    for (int role = 0; role < record::roles; ++role) Profile::start(p, s.profile, role);
    if (warp == load_warp && elect_one()) {
      tma_prefetch_map(p.a);
      tma_prefetch_map(p.b);
      if (p.epilogue.tma_end > 0) tma_prefetch_map(p.epilogue.d);
      if constexpr (C.dynamic) tiles::init_barriers(s.next);
      roles::init_barriers(s.ab_landed, s.slot_free, s.acc_full, s.acc_free);
    }
    roles::template alloc_tensor_memory<C.tensor_columns()>(warp, s.tensor_at);
  }

  TW_DEVICE static void load(params const& p, smem& s) {
    enter_role("load");
    ring<C.stages> at;
    tiles::template each<1>(p.walk, s.next, [&](tile_place const& tile, int) {
      int const m = tile.m * C.tile_m() + roles::rank() * rows;
      tma_place const a_at =
          matrix_place(p.a_matrices, tile.batch, p.a_batched != 0 ? tile.batch : 0);
      tma_place const b_at =
          matrix_place(p.b_matrices, tile.batch, p.b_batched != 0 ? tile.batch : 0);
      for (int k = 0; k < p.k_blocks; ++k, at.next()) {
        s.slot_free[at.stage].wait(at.phase ^ 1U);
        mbarrier& landed = s.ab_landed[at.stage];
        if (roles::rank() == 0) landed.arrive_expect_tx(C.ctas * (a_bytes + b_bytes));
        int const first_k = k * C.tile_k();
        loads::load_a(s.a[at.stage], p, landed, tile.m, m, first_k, a_at);
        loads::load_b(s.b[at.stage], p, landed, tile.n, first_k, b_at);
      }
    });
  }
};

template <sm100_config C>
struct gemm_sm100 : gemm_sm100_kernel<C, no_profile> {};

}  // namespace tw
