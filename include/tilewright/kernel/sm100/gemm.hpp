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
// With block scales (block_scales.hpp) an accumulator holds one K block, and there are three: warps
// 2-5 add them, and each commit of warp 1 is to slot_free and acc_full.
// This kernel has not run on hardware: the emulator executes it, and ptxas assembles it.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/sm100/block_scales.hpp"
#include "tilewright/kernel/sm100/loads.hpp"
#include "tilewright/kernel/sm100/roles.hpp"
#include "tilewright/kernel/sm100/tiles.hpp"
#include "tilewright/pipeline/ring.hpp"
#include "tilewright/pipeline/role_profile.hpp"
#include "tilewright/problem/precision.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

/// The kernel, with or without a record of its stages (pipeline/role_profile.hpp): warp 1 waits for
/// operands, and warp 2 for an accumulator, which it then stores.
template <sm100_config C, class Profile>
struct gemm_sm100_kernel {
  using params = typename Profile::template params<sm100_params>;
  using recorded = recorded_role<Profile>;
  using store = sm100_epilogue<C>;

  static constexpr int accumulators = C.accumulators();
  using roles = sm100_roles<C.ctas, C.tile_n, accumulators, store>;
  using tiles = sm100_tiles<C>;
  using loads = sm100_loads<C, roles>;
  using operand_a = typename loads::operand_a;
  using operand_b = typename loads::operand_b;

  static constexpr int load_warp = roles::load_warp, multiply_warp = roles::multiply_warp;
  static constexpr int epilogue_warps = roles::epilogue_warps;
  static constexpr int request_warp = roles::request_warp;
  static constexpr int threads = C.threads();
  static constexpr int cluster = C.ctas;
  static constexpr int rows = roles::rows;  // of A and D in a CTA
  static constexpr int a_bytes = operand_a::bytes(rows), b_bytes = operand_b::bytes(C.b_share());
  static constexpr int multiply_k = traits_of(C.a.multiplied).mma_k();

  static constexpr int recorded_multiply = 0, recorded_epilogue = 1, recorded_roles = 2;

  struct smem {
    alignas(swizzle_pattern_bytes) std::byte a[C.stages][a_bytes];
    alignas(swizzle_pattern_bytes) std::byte b[C.stages][b_bytes];
    alignas(swizzle_pattern_bytes) std::byte d[epilogue_warps][roles::boxes][store::box_bytes];
    [[no_unique_address]] column_scales_smem<C, epilogue_warps> scales;
    mbarrier ab_landed[C.stages], slot_free[C.stages];
    mbarrier acc_full[accumulators], acc_free[accumulators];
    [[no_unique_address]] typename tiles::memory next;
    std::uint32_t tensor_at;
    [[no_unique_address]] typename Profile::template smem<recorded_roles> profile;
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
      if (C.ctas == 1 || cluster_rank() == 0) {
        if constexpr (C.block_scales)
          multiply_blocks(p, s, tensor);
        else
          multiply(p, s, tensor);
      }
    } else if (warp < request_warp) {
      record_of_epilogue const record{s, warp};
      if constexpr (C.block_scales)
        scaled_epilogue(p, s, record);
      else
        roles::epilogue(
            s, p.epilogue, tensor, warp, 1.0F, [&](auto&& f) { each_tile<warp_threads>(p, s, f); },
            record);
    } else if constexpr (C.dynamic) {
      if (elect_one()) tiles::request(s.next);
    }
    roles::together();  // tensor memory and the peer's shared memory are in use until here
    if (warp == multiply_warp) tmem_dealloc<C.ctas>(tensor, C.tensor_columns());
    for (int role = 0; role < recorded_roles; ++role) Profile::finish(p, s.profile, role);
  }

 private:
  /// Of the first warp of the epilogue.
  struct record_of_epilogue {
    smem& s;
    int warp;

    TW_DEVICE void waits() const {
      if (records()) recorded::begins(s.profile, recorded_epilogue);
    }
    TW_DEVICE void has_waited() const {
      if (records()) recorded::ends(s.profile, recorded_epilogue, kernel_stage::tensor_core);
    }
    TW_DEVICE void has_stored() const {
      if (records()) recorded::ends(s.profile, recorded_epilogue, kernel_stage::store);
    }

   private:
    TW_DEVICE bool records() const { return warp == roles::first_epilogue_warp && lane_id() == 0; }
  };

  TW_DEVICE static void set_up(params const& p, smem& s, int warp) {
    for (int role = 0; role < recorded_roles; ++role) Profile::start(p, s.profile, role);
    if (warp == load_warp && elect_one()) {
      tma_prefetch_map(p.a);
      tma_prefetch_map(p.b);
      if (p.epilogue.tma_end > 0) tma_prefetch_map(p.epilogue.d);
      if constexpr (C.dynamic) tiles::init_barriers(s.next);
      roles::init_barriers(s.ab_landed, s.slot_free, s.acc_full, s.acc_free);
    }
    roles::together();
    if (warp == multiply_warp) {
      tmem_alloc<C.ctas>(&s.tensor_at, C.tensor_columns());
      tmem_relinquish<C.ctas>();
    }
    cta_sync();  // all threads read tensor_at
  }

  /// f(tile, i): the tiles of this cluster, the i-th one.
  template <int Lanes, class F>
  TW_DEVICE static void each_tile(params const& p, smem& s, F&& f) {
    tiles::template each<Lanes>(p.walk, s.next, f);
  }

  TW_DEVICE static void load(params const& p, smem& s) {
    enter_role("load");
    ring<C.stages> at;
    each_tile<1>(p, s, [&](tile_place const& tile, int) {
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

  static constexpr umma_kind kind = umma_kind_of(C.a.multiplied);
  static constexpr std::uint32_t idesc = umma_idesc{.d_format = 1,
                                                    .a_format = idesc_format(kind, C.a.multiplied),
                                                    .b_format = idesc_format(kind, C.b.multiplied),
                                                    .a_major = C.a.major,
                                                    .b_major = C.b.major,
                                                    .n = C.tile_n,
                                                    .m = C.tile_m()}
                                             .bits();
  /// K step `step` of an operand in shared memory: the places that wgmma's descriptor has.
  template <class Operand, int Extent>
  TW_DEVICE static umma_desc operand(std::uint32_t tile, int step) {
    constexpr smem_desc at_0 = Operand::desc(0, Extent, 0, 0);
    constexpr umma_desc places =
        make_umma_desc(0, at_0.leading_bytes(), at_0.stride_bytes(), at_0.swizzle());
    return places + static_cast<int>(tile & 0x3FFFFU) +
           Operand::start_bytes(Extent, 0, step * multiply_k);
  }
  /// A stage's K block, to an accumulator or its first.
  TW_DEVICE static void multiply_stage(smem& s, int stage, std::uint32_t d, bool accumulate) {
    std::uint32_t const a = smem_addr(s.a[stage]), b = smem_addr(s.b[stage]);
    TW_UNROLL
    for (int step = 0; step < C.tile_k() / multiply_k; ++step)
      umma<kind, C.ctas>(d, operand<operand_a, rows>(a, step),
                         operand<operand_b, C.b_share()>(b, step), idesc, accumulate || step > 0);
  }
  TW_DEVICE static void multiply(params const& p, smem& s, std::uint32_t tensor) {
    enter_role("multiply");
    ring<C.stages> at;
    each_tile<warp_threads>(p, s, [&](tile_place const&, int i) {
      int const acc = i % accumulators;
      std::uint32_t const d = tmem_at(tensor, 0, C.accumulator_column(acc));
      s.acc_free[acc].wait(roles::acc_phase(i) ^ 1U);
      tcgen05_fence_after();
      for (int k = 0; k < p.k_blocks; ++k, at.next()) {
        if (lane_id() == 0) recorded::begins(s.profile, recorded_multiply);
        s.ab_landed[at.stage].wait(at.phase);
        if (lane_id() == 0) recorded::ends(s.profile, recorded_multiply, kernel_stage::load);
        if (elect_one()) {
          multiply_stage(s, at.stage, d, k > 0);
          roles::commit(s.slot_free[at.stage]);
          if (k == p.k_blocks - 1) roles::commit(s.acc_full[acc]);
        }
        warp_sync();
      }
    });
  }

  /// Each K block to another accumulator.
  TW_DEVICE static void multiply_blocks(params const& p, smem& s, std::uint32_t tensor) {
    enter_role("multiply");
    ring<C.stages> at;
    ring<accumulators> acc;
    each_tile<warp_threads>(p, s, [&](tile_place const&, int) {
      for (int k = 0; k < p.k_blocks; ++k, at.next(), acc.next()) {
        if (lane_id() == 0) recorded::begins(s.profile, recorded_multiply);
        s.ab_landed[at.stage].wait(at.phase);
        if (lane_id() == 0) recorded::ends(s.profile, recorded_multiply, kernel_stage::load);
        s.acc_free[acc.stage].wait(acc.phase ^ 1U);
        tcgen05_fence_after();
        if (elect_one()) {
          multiply_stage(s, at.stage, tmem_at(tensor, 0, C.accumulator_column(acc.stage)), false);
          roles::commit(s.slot_free[at.stage]);
          roles::commit(s.acc_full[acc.stage]);
        }
        warp_sync();
      }
    });
  }
  /// The epilogue warps: add the K blocks of a tile, and store it.
  TW_DEVICE static void scaled_epilogue(params const& p, smem& s,
                                        record_of_epilogue const& record) {
    enter_role("epilogue");
    typename store::boxes boxes{s.d[warp_id() - roles::first_epilogue_warp]};
    // Registers are scarce: the turn of an accumulator and the parity of its phase are one number,
    // and what follows from the warp is computed again where it is used.
    int turn = 0;
    auto const first_row = [] { return roles::first_row(warp_id()); };  // of a CTA's part of a tile
    auto const columns = [&](int i) {
      return tmem_at(s.tensor_at, first_row(), C.accumulator_column(i));
    };
    auto const sums = [&] { return tmem_at(s.tensor_at, first_row(), C.sums_column()); };
    auto const next = [&] {
      s.acc_full[turn % accumulators].wait(static_cast<std::uint32_t>(turn / accumulators));
      tcgen05_fence_after();
      return columns(turn % accumulators);
    };
    auto const loaded = [&] {
      roles::release(s.acc_free[turn % accumulators]);
      turn = turn + 1 < 2 * accumulators ? turn + 1 : 0;
    };
    each_tile<warp_threads>(p, s, [&](tile_place const& tile, int) {
      fragment_place const at{(tile.m * C.ctas + roles::rank()) * rows + first_row(),
                              tile.n * C.d_cols(), tile.batch};
      column_scales* const scales = s.scales.of_warp[warp_id() - roles::first_epilogue_warp];
      compiler_fence();
      record.waits();
      if (at.row < p.epilogue.m) {
        sm100_scaled_sums<C>::store(
            p, at, scales, [&] { return sums(); }, next, loaded);
      } else {
        for (int k = 0; k < p.k_blocks; ++k) {
          next();
          loaded();
        }
      }
      record.has_waited();
      roles::store_tile(p.epilogue, sums(), at, 1.0F, boxes, [] {});
      record.has_stored();
    });
    if (lane_id() == 0) tma_store_wait_read<0>();
    tcgen05_fence_before();  // the sums are freed after the barrier that follows
  }
};

template <sm100_config C>
struct gemm_sm100 : gemm_sm100_kernel<C, no_profile> {};

}  // namespace tw
