// SPDX-License-Identifier: Apache-2.0
// roles.hpp  The parts that Blackwell kernels share: warps of the roles, barriers of one CTA
//            or a pair, and the epilogue of a tile.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tilewright/kernel/sm100/epilogue.hpp"
#include "tilewright/pipeline/order.hpp"

namespace tw {

/// An epilogue without a record of its stages (pipeline/role_profile.hpp).
struct no_record {
  TW_DEVICE void waits() const {}
  TW_DEVICE void has_waited() const {}
  TW_DEVICE void has_stored() const {}
};

/// Store: sm100_epilogue. Accumulators of TileN columns lie at the start of tensor memory.
template <int Ctas, int TileN, int Accumulators, class Store>
struct sm100_roles : sm100_cta {
  TW_DEVICE static int rank() { return Ctas == 1 ? 0 : cluster_rank(); }

  /// A barrier of all threads that execute the multiplies of a tile.
  TW_DEVICE static void together() {
    warp_sync();  // reconverge: one lane ran a role
    if constexpr (Ctas == 1)
      cta_sync();
    else
      cluster_sync();
  }
  /// By one thread, before the first barrier.
  template <int Stages>
  TW_DEVICE static void init_barriers(mbarrier (&landed)[Stages], mbarrier (&slot_free)[Stages],
                                      mbarrier (&acc_full)[Accumulators],
                                      mbarrier (&acc_free)[Accumulators]) {
    for (int i = 0; i < Stages; ++i) {
      landed[i].init(1);
      slot_free[i].init(1);
    }
    for (int i = 0; i < Accumulators; ++i) {
      acc_full[i].init(1);
      acc_free[i].init(epilogue_warps * Ctas);
    }
    fence_mbarrier_init();
  }
  /// All threads: allocates columns of tensor memory, once the barriers are initialised. Every
  /// thread may read `at` afterwards.
  template <int Columns>
  TW_DEVICE static void alloc_tensor_memory(int warp, std::uint32_t& at) {
    together();
    if (warp == multiply_warp) {
      tmem_alloc<Ctas>(&at, Columns);
      tmem_relinquish<Ctas>();
    }
    cta_sync();
  }
  /// All threads, at the end: tensor memory and the peer's shared memory are in use until here.
  template <int Columns>
  TW_DEVICE static void free_tensor_memory(int warp, std::uint32_t at) {
    together();
    if (warp == multiply_warp) tmem_dealloc<Ctas>(at, Columns);
  }
  /// Tile i uses accumulator i % Accumulators, for the (i / Accumulators)th time.
  TW_DEVICE static std::uint32_t acc_phase(int i) {
    return static_cast<std::uint32_t>(i / Accumulators) & 1U;
  }
  /// To this barrier of each CTA that multiplies.
  TW_DEVICE static void commit(mbarrier& done) {
    if constexpr (Ctas == 1)
      umma_commit(done);
    else
      umma_commit_multicast<Ctas>(done, 0b11);
  }
  /// In the CTA that multiplies.
  TW_DEVICE static void free_accumulator(mbarrier& acc_free) {
    if constexpr (Ctas == 1)
      acc_free.arrive();
    else
      acc_free.arrive_remote_relaxed(0);  // tcgen05_fence_before orders what matters
  }
  /// Of a warp that has read its part of an accumulator.
  TW_DEVICE static void release(mbarrier& acc_free) {
    tcgen05_fence_before();
    warp_sync();
    if (lane_id() == 0) free_accumulator(acc_free);
  }
  /// A box that the barrier of the pair's even CTA counts.
  template <int R>
  TW_DEVICE static void load_box(void* to, tensor_map const& map, mbarrier& landed,
                                 tma_coord<R> at) {
    if constexpr (Ctas == 1)
      tma_load(to, map, landed, at);
    else
      tma_load_pair(to, map, landed, at);
  }

  /// Stores the warp's rows of a tile whose sums are in tensor memory at `from`. loaded() follows
  /// the last load from there.
  template <class Loaded>
  TW_DEVICE static void store_tile(epilogue_params const& e, std::uint32_t from, fragment_place at,
                                   float scale, typename Store::boxes& boxes,
                                   Loaded const& loaded) {
    int const left = e.n - at.col;  // columns of D
    int const cols = left < Store::tile_cols ? left : Store::tile_cols;
    if (at.row >= e.m) {
      loaded();
      return;
    }
    TW_NO_UNROLL
    for (int c = 0; c < cols; c += Store::cols) {
      bool const last = c + Store::cols >= cols;
      Store::store_box(
          e, tmem_at(from, 0, c), {at.row, at.col + c, at.batch}, scale,
          [&] {
            if (last) loaded();
          },
          boxes);
    }
  }

  /// The four warps of the epilogue; s has d, acc_full and acc_free. each_tile(f) calls f(tile, i)
  /// for the tiles of this cluster. Sums are multiplied by `scale` before the formula of the
  /// epilogue. `record` counts the waits for accumulators and the tiles that are stored.
  template <class Smem, class EachTile, class Record = no_record>
  TW_DEVICE static void epilogue(Smem& s, epilogue_params const& e, std::uint32_t tensor, int warp,
                                 float scale, EachTile&& each_tile, Record const& record = {}) {
    enter_role("epilogue");
    int const part = sm100_cta::quarter(warp);
    typename Store::boxes boxes{s.d[warp - first_epilogue_warp]};
    each_tile([&](tile_place const& tile, int i) {
      int const acc = i % Accumulators;
      std::uint32_t const from = tmem_at(tensor, part * Store::rows, acc * TileN);
      int const row = (tile.m * Ctas + rank()) * rows + part * Store::rows;
      int const first = tile.n * Store::tile_cols;  // column of D
      auto const loaded = [&] { release(s.acc_free[acc]); };
      record.waits();
      s.acc_full[acc].wait(acc_phase(i));
      record.has_waited();
      tcgen05_fence_after();
      store_tile(e, from, {row, first, tile.batch}, scale, boxes, loaded);
      record.has_stored();
    });
    if (lane_id() == 0) tma_store_wait_read<0>();
  }
};

}  // namespace tw
