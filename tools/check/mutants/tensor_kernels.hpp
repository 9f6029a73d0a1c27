// SPDX-License-Identifier: Apache-2.0
// tensor_kernels.hpp  A correct GEMM with tcgen05, for one CTA or a CTA pair, and ways to break it:
//                     they test the emulator.
//
// The structure is that of kernel/sm100/gemm.hpp: a warp that loads, a warp that multiplies, four
// warps of the epilogue; 3 stages, 2 accumulators. Each mutant changes what its name says and
// nothing else.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw::mutants {

enum class tensor_mutation : int {
  none,
  // Of the accumulator
  no_full_wait,
  no_fence_after_full,
  no_load_wait,
  no_fence_before_free,
  no_free_wait,
  no_fence_after_free,
  accumulates_at_first,
  full_committed_early,
  accumulator_not_advanced,
  free_phase_never_flips,
  // Of the stages
  stage_released_by_arrive,
  commit_by_another_warp,
  no_commit_of_stages,
  no_proxy_fence,
  all_lanes_store,
  // Of descriptors
  half_stride,
  wrong_layout_type,
  no_version,
  n_too_large,
  wrong_type_code,
  mn_major_bit,
  // Of tensor memory
  neighbours_lanes,
  load_beyond_columns,
  too_few_columns,
  no_dealloc,
  dealloc_of_half,
  dealloc_early,
  alloc_after_relinquish,
  address_read_early,
  // Of who issues
  all_lanes_issue,
  commit_of_other_group,
  // Of pairs
  own_barrier_of_peer,
  expects_own_bytes,
  commit_reaches_leader_only,
  both_ctas_issue,
  cta_barrier_after_init,
  no_barrier_before_alloc,
  no_barrier_at_exit,
  dealloc_without_peer,
  free_with_cta_scope,
  // Of barriers that end
  inval_under_commit,
};

struct tensor_params {
  tensor_map a, b, d;  // boxes (64, 128) of A, (64, 128 / ctas) of B, (64, 32) of D
  int tiles_m, tiles, k_blocks;
  tensor_mutation broken;
};

template <int Ctas>
struct tensor_gemm {
  using bug = tensor_mutation;
  static constexpr int stages = 3, tile_m = 128, tile_n = 128, tile_k = 64, accumulators = 2;
  static constexpr int columns_of_b = tile_n / Ctas;
  static constexpr int threads = 192, cluster = Ctas;
  static constexpr int tensor_columns = accumulators * tile_n;
  static constexpr int a_elements = tile_m * tile_k, b_elements = columns_of_b * tile_k;

  struct smem {
    alignas(1024) std::uint16_t a[stages][a_elements];
    alignas(1024) std::uint16_t b[stages][b_elements];
    alignas(1024) std::byte d[4][2][4096];
    mbarrier ab_landed[stages], slot_free[stages];
    mbarrier acc_full[accumulators], acc_free[accumulators];
    std::uint32_t tensor_at;
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = tensor_params;

  TW_DEVICE static bool is(params const& p, bug b) { return p.broken == b; }

  TW_DEVICE static void together(bool within_cta = false) {
    warp_sync();
    if (Ctas == 1 || within_cta)
      cta_sync();
    else
      cluster_sync();
  }

  TW_DEVICE static void allocate(params const& p, smem& s) {
    if (warp_id() != 1) return;
    if (is(p, bug::alloc_after_relinquish)) tmem_relinquish<Ctas>();
    tmem_alloc<Ctas>(&s.tensor_at, is(p, bug::too_few_columns) ? tile_n : tensor_columns);
    if (!is(p, bug::alloc_after_relinquish)) tmem_relinquish<Ctas>();
  }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const warp = warp_id();
    if (is(p, bug::no_barrier_before_alloc)) allocate(p, s);
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) {
        s.ab_landed[i].init(1);
        s.slot_free[i].init(1);
      }
      for (int i = 0; i < accumulators; ++i) {
        s.acc_full[i].init(1);
        s.acc_free[i].init(4 * Ctas);
      }
      fence_mbarrier_init();
    }
    together(is(p, bug::cta_barrier_after_init));
    if (!is(p, bug::no_barrier_before_alloc)) allocate(p, s);
    std::uint32_t tensor = 0;
    if (is(p, bug::address_read_early)) tensor = s.tensor_at;
    cta_sync();
    if (!is(p, bug::address_read_early)) tensor = s.tensor_at;
    if (warp == 0) {
      if (elect_one()) load(p, s);
    } else if (warp == 1) {
      if (Ctas == 1 || cluster_rank() == 0 || is(p, bug::both_ctas_issue)) multiply(p, s, tensor);
      if (is(p, bug::dealloc_early)) tmem_dealloc<Ctas>(tensor, tensor_columns);
    } else {
      epilogue(p, s, tensor);
    }
    together(is(p, bug::no_barrier_at_exit) || is(p, bug::dealloc_without_peer));
    if (thread_id() == 0 && is(p, bug::inval_under_commit)) s.slot_free[0].inval();
    if (warp == 1 && !is(p, bug::no_dealloc) && !is(p, bug::dealloc_early))
      tmem_dealloc<Ctas>(tensor, is(p, bug::dealloc_of_half) ? tile_n : tensor_columns);
    if (is(p, bug::dealloc_without_peer)) together();
  }

  template <class F>
  TW_DEVICE static void each_tile(params const& p, F&& f) {
    int i = 0;
    for (int t = cluster_id(); t < p.tiles; t += cluster_count(), ++i)
      f(t % p.tiles_m * tile_m * Ctas, t / p.tiles_m * tile_n, i);
  }
  TW_DEVICE static int accumulator_of(params const& p, int i) {
    return is(p, bug::accumulator_not_advanced) ? 0 : i % accumulators;
  }

  TW_DEVICE static void load(params const& p, smem& s) {
    enter_role("load");
    int const rank = Ctas == 1 ? 0 : cluster_rank();
    int const bytes = 2 * (a_elements + b_elements);
    ring<stages> at;
    each_tile(p, [&](int m, int n, int) {
      for (int k = 0; k < p.k_blocks; ++k, at.next()) {
        s.slot_free[at.stage].wait(at.phase ^ 1U);
        mbarrier& landed = s.ab_landed[at.stage];
        if (rank == 0)
          landed.arrive_expect_tx(is(p, bug::expects_own_bytes) ? bytes : Ctas * bytes);
        tma_coord const of_a{k * tile_k, m + rank * tile_m};
        tma_coord const of_b{k * tile_k, n + rank * columns_of_b};
        if (Ctas == 1 || (rank == 1 && is(p, bug::own_barrier_of_peer))) {
          tma_load(s.a[at.stage], p.a, landed, of_a);
          tma_load(s.b[at.stage], p.b, landed, of_b);
        } else {
          tma_load_pair(s.a[at.stage], p.a, landed, of_a);
          tma_load_pair(s.b[at.stage], p.b, landed, of_b);
        }
      }
    });
  }

  TW_DEVICE static std::uint32_t idesc(params const& p) {
    umma_idesc d{.d_format = 1,
                 .a_format = 1,
                 .b_format = 1,
                 .n = is(p, bug::n_too_large) ? 2 * tile_n : tile_n,
                 .m = tile_m * Ctas};
    if (is(p, bug::wrong_type_code)) d.b_format = 5;
    if (is(p, bug::mn_major_bit)) d.a_major = operand_major::mn;
    return d.bits();
  }
  TW_DEVICE static umma_desc operand(params const& p, void const* tile) {
    umma_desc d =
        make_umma_desc(smem_addr(tile), 16, is(p, bug::half_stride) ? 512 : 1024,
                       is(p, bug::wrong_layout_type) ? swizzle_mode::b64 : swizzle_mode::b128);
    if (is(p, bug::no_version)) d.bits &= ~(std::uint64_t{7} << 46);
    return d;
  }
  TW_DEVICE static void commit(params const& p, mbarrier& done) {
    if (is(p, bug::commit_of_other_group))
      umma_commit<3 - Ctas>(done);
    else if (Ctas == 1)
      umma_commit(done);
    else
      umma_commit_multicast<Ctas>(done, is(p, bug::commit_reaches_leader_only) ? 0b01 : 0b11);
  }

  TW_DEVICE static void multiply(params const& p, smem& s, std::uint32_t tensor) {
    enter_role("multiply");
    ring<stages> at;
    each_tile(p, [&](int, int, int i) {
      int const acc = accumulator_of(p, i);
      std::uint32_t const d = tmem_at(tensor, 0, acc * tile_n);
      std::uint32_t const turn = static_cast<std::uint32_t>(i / accumulators) & 1U;
      if (!is(p, bug::no_free_wait))
        s.acc_free[i % accumulators].wait(is(p, bug::free_phase_never_flips) ? 1U : turn ^ 1U);
      if (!is(p, bug::no_fence_after_free)) tcgen05_fence_after();
      for (int k = 0; k < p.k_blocks; ++k, at.next()) {
        s.ab_landed[at.stage].wait(at.phase);
        bool const last = k == p.k_blocks - 1;
        if (elect_one() || is(p, bug::all_lanes_issue)) {
          if (last && is(p, bug::full_committed_early)) commit(p, s.acc_full[i % accumulators]);
          umma_desc const a = operand(p, s.a[at.stage]), b = operand(p, s.b[at.stage]);
          for (int step = 0; step < 4; ++step)
            umma<umma_kind::f16, Ctas>(d, a + 32 * step, b + 32 * step, idesc(p),
                                       k > 0 || step > 0 || is(p, bug::accumulates_at_first));
          if (is(p, bug::stage_released_by_arrive))
            release_by_arrive(s.slot_free[at.stage]);
          else if (!is(p, bug::commit_by_another_warp) && !is(p, bug::no_commit_of_stages))
            commit(p, s.slot_free[at.stage]);
          if (last && !is(p, bug::full_committed_early)) commit(p, s.acc_full[i % accumulators]);
        }
        warp_sync();
        if (lane_id() == 1 && is(p, bug::commit_by_another_warp)) commit(p, s.slot_free[at.stage]);
      }
    });
  }
  TW_DEVICE static void release_by_arrive(mbarrier& slot_free) {
    slot_free.arrive();
    if (Ctas == 2) slot_free.arrive_remote(1);
  }

  TW_DEVICE static void epilogue(params const& p, smem& s, std::uint32_t tensor) {
    enter_role("epilogue");
    int const warp = warp_id(), lane = lane_id(), quarter = warp % 4;
    int const rank = Ctas == 1 ? 0 : cluster_rank();
    auto& staging = s.d[warp - 2];
    int stored = 0;
    each_tile(p, [&](int m, int n, int i) {
      int const lanes = is(p, bug::neighbours_lanes) ? quarter ^ 1 : quarter;
      std::uint32_t const from = tmem_at(tensor, lanes * 32, accumulator_of(p, i) * tile_n);
      if (!is(p, bug::no_full_wait))
        s.acc_full[i % accumulators].wait(static_cast<std::uint32_t>(i / accumulators) & 1U);
      if (!is(p, bug::no_fence_after_full)) tcgen05_fence_after();
      for (int c = 0; c < tile_n; c += 64, ++stored) {
        int const beyond = is(p, bug::load_beyond_columns) ? 448 : 0;
        auto low = tmem_load<tmem_shape::l32x32b, 32>(tmem_at(from, 0, c + beyond));
        auto high = tmem_load<tmem_shape::l32x32b, 32>(tmem_at(from, 0, c + 32 + beyond));
        if (!is(p, bug::no_load_wait)) tmem_wait_load(low, high);
        if (c + 64 == tile_n) {
          if (!is(p, bug::no_fence_before_free)) tcgen05_fence_before();
          warp_sync();
          if (lane == 0) free_accumulator(p, s.acc_free[i % accumulators]);
        }
        std::byte* const box = staging[stored % 2];
        bool const stores = lane == 0 || is(p, bug::all_lanes_store);
        if (stores) tma_store_wait_read<1>();
        warp_sync();
        for (int j = 0; j < 32; ++j) {
          write_pair(box, lane, j, low.r, 2 * j);
          write_pair(box, lane, j, high.r, 2 * j - 32);
        }
        if (!is(p, bug::no_proxy_fence)) fence_proxy_async();
        warp_sync();
        if (stores) {
          tma_store(p.d, box, tma_coord{n + c, m + rank * tile_m + quarter * 32});
          tma_store_commit();
        }
      }
    });
    if (is(p, bug::no_load_wait)) tmem_wait_load();
    if (lane == 0 || is(p, bug::all_lanes_store)) tma_store_wait_read<0>();
  }
  TW_DEVICE static void free_accumulator(params const& p, mbarrier& acc_free) {
    if (Ctas == 1)
      acc_free.arrive();
    else if (is(p, bug::free_with_cta_scope))
      acc_free.arrive_remote<scope::cta>(0);
    else
      acc_free.arrive_remote_relaxed(0);
  }
  /// Word j of a row of 64 bf16, from registers at and at + 1 where they are among the 32.
  TW_DEVICE static void write_pair(std::byte* box, int row, int j, std::uint32_t const* r, int at) {
    if (at < 0 || at >= 32) return;
    std::uint32_t const plain = static_cast<std::uint32_t>(row * 128 + 4 * j);
    *reinterpret_cast<words::b32*>(box + swizzled(plain, swizzle_mode::b128)) =
        pack2<elem::bf16>(tmem_float(r[at]), tmem_float(r[at + 1]));
  }
};

}  // namespace tw::mutants
