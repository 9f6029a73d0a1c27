// SPDX-License-Identifier: Apache-2.0
// quantize_columns.hpp  D in 8 bits with scales where swap-AB computes D^T: the 128 columns of D
//                       that share a scale are the 128 rows of a tile. A warp finds the largest
//                       magnitude of its 16 rows of each column by shuffles; the eight warps of
//                       both warpgroups exchange theirs in shared memory.
#pragma once

#include <math.h>

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/epilogue/ops.hpp"
#include "tilewright/kernel/sm90/epilogue/store.hpp"
#include "tilewright/problem/quantize.hpp"

namespace tw {

template <gemm_config C>
struct quantize_columns_epilogue : epilogue_store<C> {
  using base = epilogue_store<C>;
  using base::box;
  using base::epilogue_tiles;
  using base::tile_regs;
  using typename base::fragment;
  using typename base::writer;
  using ops = epilogue_ops<C>;
  using vectors = column_vectors<C>;
  static constexpr int warpgroups = 2;
  static_assert(size_bytes(C.d) == 1 && C.d_m && !C.pingpong && C.cluster_k == 1 &&
                    C.tile_m == scale_block_cols && C.math_warpgroups() == warpgroups,
                "[TW0203] a tile of a transposed D has the 128 rows that share a scale");

  /// Stores a warpgroup's fragment, (64, d_cols) at D(at).
  TW_DEVICE static void store(epilogue_params const& p, epilogue_smem<C>& s, int warpgroup,
                              fragment_place at, fragment (&acc)[1], staging_state& state) {
    writer const w{s, warpgroup, thread_id_anew() % warpgroup_threads};
    ops fetched(p, at);
    unrolled<epilogue_tiles>([&](auto index) {
      constexpr int j = index;
      fragment_place const to = at.right(j * box.cols);
      vectors& own = w.smem.vectors[w.warpgroup];
      fetched.share(p, own, to.right(box.cols));
      base::wait_for_next(w);
      ops::make_x(p, own, to, acc[0], j);
      ops::make_y(p, own, to, acc[0], j);
      quantize(p, w, to, acc[0], j * tile_regs, state.half());
      base::store_tile(w, d_of<C>(p, at), base::end_of(to) <= p.tma_end, base::next_tile(w, state),
                       to, tile_results<fragment>{acc[0], j * tile_regs});
      state.swap_halves();
    });
  }

 private:
  /// The barrier of both warpgroups; those of one are 1 and 2 (staging.hpp).
  static constexpr int barrier_of_both = 5;
  /// Columns of which a thread has elements: two of every eight.
  static constexpr int columns = tile_regs / accumulator_map::rows;
  TW_DEVICE static int column_of(writer const& w, int i) {
    return w.first_col() + wgmma_n_step * (i / 2) + i % 2;
  }
  /// Register of column i and row r, 0 or 1.
  TW_DEVICE static int register_of(int i, int r) { return i / 2 * 4 + 2 * r + i % 2; }

  /// Divides the thread's results, from `first` on, by the scales of their columns, and stores
  /// those. Consecutive tiles take turns with the places of an exchange.
  TW_DEVICE static void quantize(epilogue_params const& p, writer const& w, fragment_place at,
                                 fragment& acc, int first, int turn) {
    if (p.scales.given != 0) {
      scale_divisor const by(*static_cast<words::f32 const*>(p.scales.data));
      TW_UNROLL
      for (int i = 0; i < tile_regs; ++i) acc[first + i] = by.divide(acc[first + i]);
      return;
    }
    vectors& own = w.smem.vectors[w.warpgroup];
    share_magnitudes(p, w, own, at, acc, first, turn);
    named_barrier_sync(barrier_of_both, warpgroups * warpgroup_threads);
    find_scales(p, w, own, at, turn);
    w.sync();
    TW_UNROLL
    for (int i = 0; i < columns; ++i) {
      scale_divisor const by(own.scale[column_of(w, i)]);
      TW_UNROLL
      for (int r = 0; r < accumulator_map::rows; ++r) {
        float& x = acc[first + register_of(i, r)];
        x = by.divide(x);
      }
    }
  }

  /// The largest finite magnitude of each column in the warp's rows of D.
  TW_DEVICE static void share_magnitudes(epilogue_params const& p, writer const& w, vectors& own,
                                         fragment_place at, fragment& acc, int first, int turn) {
    TW_UNROLL
    for (int i = 0; i < columns; ++i) {
      float most = 0;
      TW_UNROLL
      for (int r = 0; r < accumulator_map::rows; ++r) {
        bool const is_of_d = at.row + w.first_row() + accumulator_map::row_distance * r < p.m;
        float const x = float_of_bits(finite_magnitude_bits(acc[first + register_of(i, r)]));
        most = fmaxf(most, is_of_d ? x : 0);
      }
      TW_UNROLL
      for (int lanes = 4; lanes <= 16; lanes *= 2) most = fmaxf(most, shuffle_xor(most, lanes));
      if (w.lane() < 4) own.amax[turn][w.warp()][column_of(w, i)] = most;
    }
  }

  /// A thread finds the scale of a column, for its warpgroup; those of the first store it.
  TW_DEVICE static void find_scales(epilogue_params const& p, writer const& w, vectors& own,
                                    fragment_place at, int turn) {
    if (w.thread >= box.cols) return;
    float amax = 0;
    TW_UNROLL
    for (int group = 0; group < warpgroups; ++group) TW_UNROLL
    for (int warp = 0; warp < vectors::warps; ++warp)
      amax = fmaxf(amax, w.smem.vectors[group].amax[turn][warp][w.thread]);
    result_scales const& s = p.scales;
    float const scale = quantize_scale(amax, quantize_limit(C.d), s.power_of_two != 0);
    own.scale[w.thread] = scale;
    int const row_of_d = at.col + w.thread, block = at.row / scale_block_cols;
    if (w.warpgroup != 0 || row_of_d >= p.n) return;
    std::int64_t const to =
        at.batch * s.batch_stride + row_of_d * s.stride_row + block * s.stride_block;
    if (s.ue8m0 != 0)
      static_cast<words::b8*>(s.data)[to] = to_ue8m0_up(scale).bits;
    else
      static_cast<words::f32*>(s.data)[to] = scale;
  }
};

template <gemm_config C>
requires(C.d_m) struct epilogue_of<C, epilogues::quantize> : quantize_columns_epilogue<C> {
};

}  // namespace tw
