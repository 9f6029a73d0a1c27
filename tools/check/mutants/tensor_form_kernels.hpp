// SPDX-License-Identifier: Apache-2.0
// tensor_form_kernels.hpp  Small correct kernels with tcgen05, and ways to break them: A and D in
//                          several forms of loads and stores, CTAs that share the tensor memory of
//                          an SM, scale factors of 4-bit elements.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"

namespace tw::mutants {

enum class form_mutation : int {
  none,
  no_store_wait,
  unpacked_width,
  map_of_another_shape,
};

struct form_params {
  std::uint32_t const *a, *b;  // [128][8], [32][8]: 16 f16 of a row
  std::uint32_t* halves;       // [128][16]: D, 32 f16 of a row
  float* floats;               // [128][32]: D
  form_mutation broken;
};

/// Each thread stores its row of A to tensor memory. Two multiplies write D as float32 and as f16,
/// which is loaded with packing.
struct tensor_forms {
  using bug = form_mutation;
  static constexpr int threads = 128, cluster = 1;
  static constexpr int n = 32, row_words = 8, columns = 128;
  static constexpr int floats_at = 32, halves_at = 96;  // columns; A begins at 0
  struct smem {
    alignas(128) std::uint32_t b[n * row_words];
    mbarrier done;
    std::uint32_t tensor_at;
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = form_params;

  TW_DEVICE static bool is(params const& p, bug b) { return p.broken == b; }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const warp = warp_id(), t = thread_id();
    if (t == 0) {
      s.done.init(1);
      fence_mbarrier_init();
    }
    if (warp == 0) tmem_alloc(&s.tensor_at, columns);
    // The canonical K-major layout without a swizzle: 8 rows of 16 bytes one after another.
    for (int i = t; i < n * row_words; i += threads) {
      int const row = i / row_words, word = i % row_words;
      s.b[row / 8 * 64 + word / 4 * 32 + row % 8 * 4 + word % 4] = p.b[i];
    }
    fence_proxy_async();
    cta_sync();
    std::uint32_t const tensor = s.tensor_at, own = tmem_at(tensor, 32 * warp, 0);
    tmem_words<tmem_shape::l32x32b, row_words> row;
    for (int i = 0; i < row_words; ++i) row.r[i] = p.a[t * row_words + i];
    tmem_store<tmem_shape::l32x32b, row_words>(own, row);
    if (!is(p, bug::no_store_wait)) tmem_wait_store();
    tcgen05_fence_before();
    cta_sync();
    if (warp == 0 && elect_one()) multiply(s, tensor);
    warp_sync();
    s.done.wait(0);
    tcgen05_fence_after();
    store_halves(p, own);
    store_floats(p, own);
    if (is(p, bug::no_store_wait)) tmem_wait_store();
    cta_sync();
    if (warp == 0) tmem_dealloc(tensor, columns);
  }

  TW_DEVICE static void multiply(smem& s, std::uint32_t tensor) {
    umma_desc const b = make_umma_desc(smem_addr(s.b), 128, 256, swizzle_mode::none);
    umma_idesc const floats{.d_format = 1, .n = n, .m = 128},
        halves{.d_format = 0, .n = n, .m = 128};
    tcgen05_fence_after();
    umma_ts<umma_kind::f16>(tensor + floats_at, tensor, b, floats.bits(), false);
    umma_ts<umma_kind::f16>(tensor + halves_at, tensor, b, halves.bits(), false);
    umma_commit(s.done);
  }

  /// A packed load of count 16 takes 32 columns.
  TW_DEVICE static void store_halves(params const& p, std::uint32_t own) {
    constexpr int words = n / 2;
    std::uint32_t* const to = p.halves + thread_id() * words;
    if (is(p, bug::unpacked_width)) {
      auto x = tmem_load_packed<tmem_shape::l32x32b, n>(own + halves_at);
      tmem_wait_load(x);
      for (int i = 0; i < words; ++i) to[i] = x.r[i];
    } else {
      auto x = tmem_load_packed<tmem_shape::l32x32b, words>(own + halves_at);
      tmem_wait_load(x);
      for (int i = 0; i < words; ++i) to[i] = x.r[i];
    }
  }

  /// 16 rows at a time.
  TW_DEVICE static void store_floats(params const& p, std::uint32_t own) {
    constexpr auto shape = tmem_shape::l16x256b;
    for (int first = 0; first < 32; first += 16) {
      auto x = tmem_load<shape, n / 8>(tmem_at(own, first, floats_at));
      tmem_wait_load(x);
      bool const other = first == 16 && is(p, bug::map_of_another_shape);
      for (int i = 0; i < tmem_registers(shape, n / 8); ++i) {
        tmem_cell const at = other ? tmem_cell_of(tmem_shape::l16x32bx2, lane_id(), i, n / 2)
                                   : tmem_cell_of(shape, lane_id(), i);
        p.floats[(32 * warp_id() + first + at.lane) * n + at.column] = tmem_float(x.r[i]);
      }
    }
  }
};

enum class column_mutation : int {
  none,
  no_relinquish,
  all_columns,
};

struct column_params {
  std::uint32_t* sums;   // [2][128]
  std::uint32_t* given;  // [2][128]
  int* flags;            // [2]
  column_mutation broken;
};

/// Two CTAs of one SM exchange words that they have in tensor memory.
struct shared_columns {
  using bug = column_mutation;
  static constexpr int threads = 128, cluster = 1;
  struct smem {
    std::uint32_t tensor_at;
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = column_params;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id(), cta = cta_id(), other = 1 - cta;
    int const columns = p.broken == bug::all_columns ? 512 : 256;
    if (warp_id() == 0) {
      tmem_alloc(&s.tensor_at, columns);
      if (p.broken != bug::no_relinquish) tmem_relinquish();
    }
    cta_sync();
    std::uint32_t const tensor = s.tensor_at, own = tmem_at(tensor, 32 * warp_id(), 0);
    tmem_store<tmem_shape::l32x32b, 1>(own, {{static_cast<std::uint32_t>(1000 * cta + t)}});
    tmem_wait_store();
    auto x = tmem_load<tmem_shape::l32x32b, 1>(own);
    tmem_wait_load(x);
    p.given[cta * threads + t] = x.r[0];
    cta_sync();
    if (t == 0) {
      store_release(&p.flags[cta], 1);
      while (load_acquire(&p.flags[other]) == 0) backoff();
    }
    cta_sync();
    p.sums[cta * threads + t] = x.r[0] + p.given[other * threads + t];
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(tensor, columns);
  }
};

enum class mxf4_mutation : int {
  none,
  odd_id,
  blocks_of_16,
  k_96,
};

struct mxf4_params {
  tensor_map a, b, sfa, sfb;
  float* d;  // [128][64]
  mxf4_mutation broken;
};

/// MXFP4: D of 128 x 64, two K blocks of 256, each with a stage that is filled once.
struct mxf4_gemm {
  using bug = mxf4_mutation;
  static constexpr int m = 128, n = 64, tile_k = 256, k_blocks = 2, steps = 4;
  static constexpr int threads = 128, cluster = 1, columns = 128;
  static constexpr int row_bytes = tile_k / 2, factor_bytes = 1024;  // 8 factors of 128 rows
  static constexpr int landed_bytes = (m + n) * row_bytes + 2 * factor_bytes;
  struct smem {
    alignas(1024) std::byte a[k_blocks][m * row_bytes];
    alignas(1024) std::byte b[k_blocks][n * row_bytes];
    alignas(128) std::byte sfa[k_blocks][factor_bytes];
    alignas(128) std::byte sfb[k_blocks][factor_bytes];
    mbarrier landed[k_blocks], done;
    std::uint32_t tensor_at;
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = mxf4_params;

  TW_DEVICE static bool is(params const& p, bug b) { return p.broken == b; }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const warp = warp_id();
    if (thread_id() == 0) {
      for (mbarrier& landed : s.landed) landed.init(1);
      s.done.init(1);
      fence_mbarrier_init();
    }
    if (warp == 1) tmem_alloc(&s.tensor_at, columns);
    cta_sync();
    std::uint32_t const tensor = s.tensor_at;
    if (warp == 0 && elect_one()) load(p, s);
    if (warp == 1 && elect_one()) multiply(p, s, tensor);
    warp_sync();
    enter_role("epilogue");
    s.done.wait(0);
    tcgen05_fence_after();
    auto x = tmem_load<tmem_shape::l32x32b, n>(tmem_at(tensor, 32 * warp, 0));
    tmem_wait_load(x);
    for (int i = 0; i < n; ++i) p.d[thread_id() * n + i] = tmem_float(x.r[i]);
    cta_sync();
    if (warp == 1) tmem_dealloc(tensor, columns);
  }

  TW_DEVICE static void load(params const& p, smem& s) {
    enter_role("load");
    for (int k = 0; k < k_blocks; ++k) {
      mbarrier& landed = s.landed[k];
      landed.arrive_expect_tx(landed_bytes);
      tma_load(s.a[k], p.a, landed, tma_coord{k * tile_k, 0});
      tma_load(s.b[k], p.b, landed, tma_coord{k * tile_k, 0});
      tma_load(s.sfa[k], p.sfa, landed, tma_coord{0, 4 * k});
      tma_load(s.sfb[k], p.sfb, landed, tma_coord{0, 4 * k});
    }
  }

  TW_DEVICE static umma_desc operand(void const* tile, int step) {
    return make_umma_desc(smem_addr(tile), 16, 8 * row_bytes, swizzle_mode::b128) + 32 * step;
  }
  /// The factors of K are 512 bytes for 4 blocks.
  TW_DEVICE static void copy(std::uint32_t to, std::byte const* factors) {
    for (int i = 0; i < 2; ++i)
      tmem_copy<tmem_copy_shape::c32x128b_x4>(
          to + static_cast<std::uint32_t>(4 * i),
          make_umma_desc(smem_addr(factors + 512 * i), 16, 128, swizzle_mode::none));
  }
  TW_DEVICE static std::uint32_t idesc(params const& p, int step) {
    int id = step % 2 * 2;
    if (is(p, bug::odd_id)) id = step % 2;
    if (is(p, bug::blocks_of_16)) id = 0;
    umma_scaled_idesc const d{.b_scale_id = id,
                              .a_scale_id = id,
                              .a_format = 1,
                              .b_format = 1,
                              .n = n,
                              .m = m,
                              .ue8m0 = true};
    return d.bits() | (is(p, bug::k_96) ? 1U << 31 : 0U);
  }

  TW_DEVICE static void multiply(params const& p, smem& s, std::uint32_t tensor) {
    enter_role("multiply");
    std::uint32_t const sfa = tensor + n, sfb = sfa + 8;
    for (int k = 0; k < k_blocks; ++k) {
      s.landed[k].wait(0);
      tcgen05_fence_before();  // the factors of the block before are overwritten
      copy(sfa, s.sfa[k]);
      copy(sfb, s.sfb[k]);
      for (int step = 0; step < steps; ++step) {
        umma_desc const a = operand(s.a[k], step), b = operand(s.b[k], step);
        auto const of_step = static_cast<std::uint32_t>(step / 2 * 4);
        if (is(p, bug::blocks_of_16))
          umma_scaled<umma_kind::mxf4nvf4, 16>(tensor, a, b, idesc(p, step), sfa + of_step,
                                               sfb + of_step, k > 0 || step > 0);
        else
          umma_scaled<umma_kind::mxf4, 32>(tensor, a, b, idesc(p, step), sfa + of_step,
                                           sfb + of_step, k > 0 || step > 0);
      }
    }
    umma_commit(s.done);
  }
};

}  // namespace tw::mutants
