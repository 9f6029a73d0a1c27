// SPDX-License-Identifier: Apache-2.0
// scaled_kernels.hpp  A correct block-scaled GEMM, and ways to break it: they test the emulator.
//
// MXFP8 by MXFP4 in containers of a byte: D of 128 x 64 in float32. Warp 0 loads A, B and the
// factors of A with TMA. Warp 2 brings the factors of B into the order of tcgen05 with ordinary
// stores. Warp 1 copies both to tensor memory and multiplies. All four warps store D. Each mutant
// changes what its name says and nothing else.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw::mutants {

enum class scaled_mutation : int {
  none,
  copied_after,
  copied_once,
  copied_again,
  id_not_advanced,
  factor_block_not_advanced,
  factors_of_a_for_b,
  ue4m3_bit,
  ue4m3_map,
  no_fence_of_factors,
  factors_not_awaited,
  factor_slot_not_awaited,
  swizzled_copy,
  no_version_of_copy,
  too_few_columns,
  copy_at_a_lane,
  padding_counted,
  dense_map,
};

struct scaled_params {
  tensor_map a, b, sfa;
  std::uint32_t const* sfb;  // [column of B][K block]: four factors
  float* d;                  // [128][64]
  int k_blocks;
  scaled_mutation broken;
};

struct scaled_gemm {
  using bug = scaled_mutation;
  static constexpr int m = 128, n = 64, tile_k = 128, stages = 2, steps = 4;
  static constexpr int threads = 128, cluster = 1;
  static constexpr int factor_bytes = 512, columns = 128;
  static constexpr int b_data_bytes = n * tile_k / 2;
  static constexpr int landed_bytes = m * tile_k + b_data_bytes + factor_bytes;

  struct smem {
    alignas(1024) std::byte a[stages][m * tile_k];
    alignas(1024) std::byte b[stages][n * tile_k];  // half of it padding
    alignas(128) std::byte sfa[stages][factor_bytes];
    alignas(128) std::uint32_t sfb[stages][factor_bytes / 4];
    mbarrier landed[stages], factors_ready[stages], slot_free[stages], done;
    std::uint32_t tensor_at;
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = scaled_params;

  TW_DEVICE static bool is(params const& p, bug b) { return p.broken == b; }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const warp = warp_id();
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) {
        s.landed[i].init(1);
        s.factors_ready[i].init(1);
        s.slot_free[i].init(1);
      }
      s.done.init(1);
      fence_mbarrier_init();
    }
    int const allocated = is(p, bug::too_few_columns) ? n : columns;
    if (warp == 1) tmem_alloc(&s.tensor_at, allocated);
    cta_sync();
    std::uint32_t const tensor = s.tensor_at;
    if (warp == 0 && elect_one()) load(p, s);
    if (warp == 1 && elect_one()) multiply(p, s, tensor);
    if (warp == 2) arrange(p, s);
    warp_sync();
    enter_role("epilogue");
    s.done.wait(0);
    tcgen05_fence_after();
    auto x = tmem_load<tmem_shape::l32x32b, n>(tmem_at(tensor, 32 * warp, 0));
    tmem_wait_load(x);
    for (int i = 0; i < n; ++i) p.d[thread_id() * n + i] = tmem_float(x.r[i]);
    cta_sync();
    if (warp == 1) tmem_dealloc(tensor, allocated);
  }

  TW_DEVICE static void load(params const& p, smem& s) {
    enter_role("load");
    ring<stages> at;
    for (int k = 0; k < p.k_blocks; ++k, at.next()) {
      mbarrier& landed = s.landed[at.stage];
      s.slot_free[at.stage].wait(at.phase ^ 1U);
      landed.arrive_expect_tx(landed_bytes + (is(p, bug::padding_counted) ? b_data_bytes : 0) +
                              (is(p, bug::dense_map) ? b_data_bytes : 0));
      tma_load(s.a[at.stage], p.a, landed, tma_coord{k * tile_k, 0});
      tma_load(s.b[at.stage], p.b, landed, tma_coord{k * tile_k, 0});
      tma_load(s.sfa[at.stage], p.sfa, landed,
               tma_coord{0, is(p, bug::factor_block_not_advanced) ? 0 : 2 * k});
    }
  }

  /// Lane l writes the factors of columns l and l + 32; those of 64 to 127 do not exist.
  TW_DEVICE static void arrange(params const& p, smem& s) {
    enter_role("arrange");
    int const lane = lane_id();
    ring<stages> at;
    for (int k = 0; k < p.k_blocks; ++k, at.next()) {
      if (!is(p, bug::factor_slot_not_awaited)) s.slot_free[at.stage].wait(at.phase ^ 1U);
      for (int i = 0; i < 4; ++i)
        s.sfb[at.stage][4 * lane + i] = i < 2 ? p.sfb[(lane + 32 * i) * p.k_blocks + k] : 0;
      if (!is(p, bug::no_fence_of_factors)) fence_proxy_async();
      warp_sync();
      if (lane == 0) s.factors_ready[at.stage].arrive();
    }
  }

  TW_DEVICE static umma_desc operand(void const* tile, int step) {
    return make_umma_desc(smem_addr(tile), 16, 1024, swizzle_mode::b128) + 32 * step;
  }
  TW_DEVICE static void copy(params const& p, std::uint32_t to, void const* factors) {
    umma_desc from =
        make_umma_desc(smem_addr(factors), 16, 128,
                       is(p, bug::swizzled_copy) ? swizzle_mode::b128 : swizzle_mode::none);
    if (is(p, bug::no_version_of_copy)) from.bits &= ~(std::uint64_t{7} << 46);
    tmem_copy<tmem_copy_shape::c32x128b_x4>(tmem_at(to, is(p, bug::copy_at_a_lane) ? 32 : 0, 0),
                                            from);
  }
  TW_DEVICE static std::uint32_t idesc(params const& p, int id) {
    umma_scaled_idesc d{.b_scale_id = id,
                        .a_scale_id = id,
                        .a_format = 0,
                        .b_format = 5,
                        .n = n,
                        .m = m,
                        .ue8m0 = !is(p, bug::ue4m3_bit)};
    return d.bits();
  }

  TW_DEVICE static void multiply(params const& p, smem& s, std::uint32_t tensor) {
    enter_role("multiply");
    std::uint32_t const sfa = tensor + n, sfb = sfa + 4;
    ring<stages> at;
    for (int k = 0; k < p.k_blocks; ++k, at.next()) {
      auto const copy_both = [&] {
        copy(p, sfa, s.sfa[at.stage]);
        copy(p, sfb, s.sfb[at.stage]);
      };
      s.landed[at.stage].wait(at.phase);
      if (!is(p, bug::factors_not_awaited)) s.factors_ready[at.stage].wait(at.phase);
      if (!is(p, bug::copied_after) && (k == 0 || !is(p, bug::copied_once))) copy_both();
      for (int step = 0; step < steps; ++step) {
        if (step == 2 && is(p, bug::copied_again)) copy_both();
        umma_scaled<umma_kind::mxf8f6f4, 32>(
            tensor, operand(s.a[at.stage], step), operand(s.b[at.stage], step),
            idesc(p, is(p, bug::id_not_advanced) ? 0 : step), sfa,
            is(p, bug::factors_of_a_for_b) ? sfa : sfb, k > 0 || step > 0);
      }
      if (is(p, bug::copied_after)) copy_both();
      umma_commit(s.slot_free[at.stage]);
    }
    umma_commit(s.done);
  }
};

}  // namespace tw::mutants
