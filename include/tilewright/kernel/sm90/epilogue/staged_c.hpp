// SPDX-License-Identifier: Apache-2.0
// staged_c.hpp  C by TMA: its epilogue tiles land in the staging buffers that D leaves from, the
//               first ones while the main loop runs (docs/decisions/0070).
//
// A staging buffer takes turns: C lands in it, a warp adds it to its sums, the results take its
// place, and TMA stores them. A warp reads no elements of C but those whose places it writes.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/epilogue/load_as_float.hpp"
#include "tilewright/kernel/sm90/epilogue/staging.hpp"
#include "tilewright/kernel/sm90/params.hpp"

namespace tw {

/// The staging buffers of a warpgroup that C lands in: of its epilogue tiles, tile i in buffer
/// i % buffers. Each buffer has equally many tiles.
template <gemm_config C>
struct c_buffers {
  static constexpr int of_fragment = C.d_cols() / d_box_of(C).cols;
  static constexpr int tiles = epilogue_tiles_of(C);
  static constexpr int count = c_buffers_of(C);
  static constexpr int turns = tiles / count;  // of a buffer, for each tile of D
};

template <gemm_config C>
struct staged_c_smem {};
template <gemm_config C>
requires(C.loads_c()) struct staged_c_smem<C> {
  mbarrier landed[C.math_warpgroups()][c_buffers<C>::count];
};

/// The part of a warpgroup in loading C, and of its threads in adding it.
template <gemm_config C>
struct staged_c {
  using buffers = c_buffers<C>;
  using writer = tile_writer<C>;
  static constexpr d_box box = d_box_of(C);
  static constexpr int tile_regs = box.cols / 2;
  static_assert(box.boxes() == 1, "a tile of a row-major D is one box");

  gemm_params const& p;
  epilogue_smem<C>& d;
  staged_c_smem<C>& c;
  writer w;
  fragment_place at;  // of the warpgroup's first fragment in D

  TW_DEVICE static void init(staged_c_smem<C>& c) {
    for (auto& of_warpgroup : c.landed)
      for (mbarrier& landed : of_warpgroup) landed.init(1);
  }

  /// Epilogue tile i in D.
  TW_DEVICE fragment_place place_of(int i) const {
    return at.below(wgmma_m * (i / buffers::of_fragment))
        .right(i % buffers::of_fragment * box.cols);
  }
  TW_DEVICE std::byte* buffer(int i) const {
    return d.staging_tile[w.warpgroup][i % buffers::count];
  }

  /// Loads the first tiles, one for each buffer, once the last tile's D has left the buffers. The
  /// whole warpgroup calls it: plain stores of any warp may have read them.
  TW_DEVICE void begin() const {
    fence_proxy_async();
    w.sync();
    if (!w.leads()) return;
    tma_store_wait_read<0>();
    TW_NO_UNROLL
    for (int i = 0; i < buffers::count; ++i) load(i);
  }

  /// After D's tile i has been handed to TMA: loads the next tile into the buffer of the tile
  /// before it, or of tile i if there is one buffer.
  TW_DEVICE void load_next(int i) const {
    if constexpr (buffers::turns > 1) {
      constexpr int behind = buffers::count > 1 ? 1 : 0;
      int const next = i - behind + buffers::count;
      if (i < behind || next >= buffers::tiles) return;
      if constexpr (behind == 0) {
        fence_proxy_async();
        w.sync();
      }
      if (!w.leads()) return;
      tma_store_wait_read<behind>();
      load(next);
    }
  }

  /// Waits for C of tile i. `odd`: has this launch loaded an odd number of tiles to each buffer
  /// before this tile of D?
  TW_DEVICE void wait(int i, bool odd) const {
    auto const parity = static_cast<std::uint32_t>(i / buffers::count + (odd ? 1 : 0)) & 1U;
    c.landed[w.warpgroup][i % buffers::count].wait(parity);
  }

  /// Adds beta * C to the first epilogue tile in `acc`, from its buffer.
  template <class Fragment>
  TW_DEVICE void add(std::byte const* tile, Fragment& acc) const {
    float const beta = p.epilogue.beta;
    if constexpr (size_bytes(C.d) == 4) {
      auto const* const from = reinterpret_cast<words::f32 const*>(tile);
      TW_UNROLL
      for (int i = 0; i < tile_regs; ++i)
        acc[i] = fmaf(beta,
                      from[plain_store<C>::offset_in_tile(
                          w.first_row() + writer::rows::row_of_register(i),
                          w.first_col() + accumulator_map::col_of_register(i))],
                      acc[i]);
    } else {
      elem const type = p.epilogue.c.type;
      w.read_16(reinterpret_cast<std::uint16_t const*>(tile), [&](int i, std::uint32_t pair) {
        TW_UNROLL
        for (int e = 0; e < 2; ++e)
          acc[i + e] = fmaf(beta, half_as_float(static_cast<std::uint16_t>(pair >> 16 * e), type),
                            acc[i + e]);
      });
    }
  }

 private:
  /// Tile i, by the warpgroup's first thread. A tile outside of C lands at once, without bytes.
  TW_DEVICE void load(int i) const {
    mbarrier& landed = c.landed[w.warpgroup][i % buffers::count];
    fragment_place const from = place_of(i);
    if (from.row >= p.epilogue.m || from.col >= p.epilogue.n) {
      landed.arrive();
      return;
    }
    landed.arrive_expect_tx(epilogue_smem<C>::tile_bytes);
    tma_load(buffer(i), p.c, landed, tma_coord<3>{{from.col, from.row, from.batch}});
  }
};

}  // namespace tw
