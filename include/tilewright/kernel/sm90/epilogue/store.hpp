// SPDX-License-Identifier: Apache-2.0
// store.hpp  Stores staged epilogue tiles of D: by TMA, or plain stores where TMA cannot address D
//            or would write beyond it.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/epilogue/params.hpp"
#include "tilewright/kernel/sm90/epilogue/d_box.hpp"
#include "tilewright/kernel/sm90/epilogue/destination.hpp"
#include "tilewright/kernel/sm90/epilogue/plain_store.hpp"
#include "tilewright/kernel/sm90/epilogue/staging.hpp"
#include "tilewright/kernel/sm90/sums.hpp"

namespace tw {

/// The computation of a registered epilogue: its specialisation, in the file of that name.
template <gemm_config C, class Epilogue>
struct epilogue_of;

/// The common part of all epilogues.
template <gemm_config C>
struct epilogue_store {
  static constexpr elem type = C.d;
  static constexpr d_box box = d_box_of(C);
  static constexpr int epilogue_tiles = C.d_cols() / box.cols;  // of a fragment
  static constexpr int tile_regs = results_of_tile(C);          // of a thread, in an epilogue tile
  static constexpr staging staged = staging_of(C);
  using fragment = accumulator<C.part_n(), result_type<C>>;
  using writer = tile_writer<C>;
  using element = typename plain_store<C>::element;

  /// After the last tile: the staging buffers have been read, the CTA may exit.
  TW_DEVICE static void finish() {
    if (thread_id() % warpgroup_threads == 0) tma_store_wait_read<0>();
  }

 protected:
  /// Can TMA store fragments of which the last is at D(at)?
  TW_DEVICE static bool all_by_tma(epilogue_params const& p, fragment_place at) {
    return end_of(at.right((epilogue_tiles - 1) * box.cols)) <= p.tma_end;
  }
  /// Where an epilogue tile ends along the contiguous side of D; uniform in the warpgroup.
  TW_DEVICE static int end_of(fragment_place at) {
    return box.m_major ? at.row + C.d_rows() : at.col + box.cols;
  }

  /// An epilogue tile at D(at), through shared memory. Results: value i is results[i].
  template <class Destination, class Results>
  TW_DEVICE static void store_tile(writer const& w, Destination const& to, bool by_tma,
                                   std::byte* tile, fragment_place at, Results const& results) {
    w.fill(tile, results);
    fence_proxy_async();  // the writes above are for the async proxy
    w.sync();
    store_filled(w, to, by_tma, tile, at);
    if (w.leads()) tma_store_commit();  // an empty group after plain stores keeps the count
  }

  template <class Destination>
  TW_DEVICE static void store_filled(writer const& w, Destination const& to, bool by_tma,
                                     std::byte* tile, fragment_place at) {
    if (by_tma)
      store_boxes(w, to, tile, at);
    else
      plain_store<C>::store(w.thread, to, reinterpret_cast<element const*>(tile), at);
  }

  /// Drops the first `By` of a thread's results: the next ones take their place.
  template <int By, int Fragments>
  TW_DEVICE static void move_down(fragment (&acc)[Fragments]) {
    constexpr int size = fragment::size;
    TW_UNROLL
    for (int i = By; i < Fragments * size; ++i)
      acc[(i - By) / size][(i - By) % size] = acc[i / size][i % size];
  }

  /// For fused epilogues, whose staging buffers have an epilogue tile each: waits until the next
  /// one has been read.
  TW_DEVICE static void wait_for_next(writer const& w) {
    w.template wait_for_tiles<staged.halves - 1>();
  }
  TW_DEVICE static std::byte* next_tile(writer const& w, staging_state const& state) {
    return w.smem.staging_tile[w.warpgroup][staged.halves == 1 ? 0 : state.half()];
  }

  /// The boxes of a staged epilogue tile, by TMA.
  template <class Destination>
  TW_DEVICE static void store_boxes(writer const& w, Destination const& to, std::byte* tile,
                                    fragment_place at) {
    if (!w.leads()) return;
    tensor_map const& map = to.map(at.col);
    TW_UNROLL
    for (int b = 0; b < box.boxes(); ++b) {
      int const row = at.row + b * box.rows, col = to.col(at.col);
      if (row >= to.p.m || at.col >= to.end()) continue;
      auto const box_at =
          box.m_major ? to.box_at(row, col, at.batch) : to.box_at(col, row, at.batch);
      if (to.p.d_evict_first != 0)
        tma_store_hinted(map, tile + b * box.bytes(type), box_at, evict_first_policy());
      else
        tma_store(map, tile + b * box.bytes(type), box_at);
    }
  }
};

}  // namespace tw
