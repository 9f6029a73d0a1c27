// SPDX-License-Identifier: Apache-2.0
// quantize.hpp  The epilogue that writes D in 8 bits with scales: the fused formula, then per 128
//               columns of a row the largest magnitude, the scale, and the values divided by it, as
//               problem/quantize.hpp says. An epilogue tile has 128 columns, so four lanes hold all
//               of a block.
#pragma once

#include <math.h>

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/epilogue/result_scale.hpp"
#include "tilewright/kernel/sm90/epilogue/ops.hpp"
#include "tilewright/kernel/sm90/epilogue/store.hpp"
#include "tilewright/problem/quantize.hpp"

namespace tw {

template <gemm_config C>
struct quantize_epilogue : epilogue_store<C> {
  using base = epilogue_store<C>;
  using base::box;
  using base::epilogue_tiles;
  using base::tile_regs;
  using typename base::fragment;
  using typename base::writer;
  using ops = epilogue_ops<C>;
  static_assert(size_bytes(C.d) == 1 && !C.d_m && box.cols == scale_block_cols,
                "[TW0205] an epilogue tile of a row-major D has the columns that share a scale");

  /// Stores a warpgroup's fragments, (64, d_cols) each, one below the other; the first at D(at).
  template <int Fragments>
  TW_DEVICE static void store(epilogue_params const& p, epilogue_smem<C>& s, int warpgroup,
                              fragment_place at, fragment (&acc)[Fragments], staging_state& state) {
    writer const w{s, warpgroup, thread_id_anew() % warpgroup_threads};
    unrolled<Fragments>(
        [&](auto f) { store_fragment(p, w, at.below(wgmma_m * f), acc[f], state); });
  }

 private:
  TW_DEVICE static void store_fragment(epilogue_params const& p, writer const& w, fragment_place at,
                                       fragment& acc, staging_state& state) {
    ops vectors(p, at);
    bool const scaled_sum = ops::is_scaled_sum(p, at);
    unrolled<epilogue_tiles>([&](auto index) {
      constexpr int j = index;
      fragment_place const to = at.right(j * box.cols);
      if (scaled_sum) {
        base::wait_for_next(w);
        TW_UNROLL
        for (int i = 0; i < tile_regs; ++i) acc[j * tile_regs + i] *= p.alpha;
      } else {
        vectors.share(p, w.smem.vectors[w.warpgroup], to.right(box.cols));
        base::wait_for_next(w);
        ops::make_x(p, w.smem.vectors[w.warpgroup], to, acc, j);
        ops::make_y(p, w.smem.vectors[w.warpgroup], to, acc, j);
      }
      quantize(p, w, to, acc, j * tile_regs);
      base::store_tile(w, d_of<C>(p, at), base::end_of(to) <= p.tma_end, base::next_tile(w, state),
                       to, tile_results<fragment>{acc, j * tile_regs});
      state.swap_halves();
    });
  }

  /// Divides the thread's results, from `first` on, by the scales of their rows, and stores those.
  TW_DEVICE static void quantize(epilogue_params const& p, writer const& w, fragment_place at,
                                 fragment& acc, int first) {
    result_scales const& s = p.scales;
    constexpr int rows = accumulator_map::rows;
    float scale[rows];
    bool small = false;  // are all results at most the largest code's magnitude times their scales?
    if (s.given != 0) {
      scale[0] = scale[1] = *static_cast<words::f32 const*>(s.data);
    } else {
      if (at.col + box.cols > p.n) clear_from(p.n - at.col - w.first_col(), acc, first);
      float amax[rows];
      small = find_amax(acc, first, amax);
      TW_UNROLL
      for (int r = 0; r < rows; ++r) {
        scale[r] = quantize_scale(amax[r], quantize_limit(C.d), s.power_of_two != 0);
        int const row = at.row + w.first_row() + accumulator_map::row_distance * r;
        // An epilogue tile may begin after the last column of D: it has no scales.
        if (w.first_col() == 0 && row < p.m && at.col < p.n)
          store_result_scale(s, row, at, scale[r]);
      }
    }
    scale_divisor const by[rows] = {scale_divisor(scale[0]), scale_divisor(scale[1])};
    if (vote_all(small && by[0].is_near_one() && by[1].is_near_one())) {
      TW_UNROLL
      for (int i = 0; i < tile_regs; ++i)
        acc[first + i] = by[accumulator_map::row_index(i)].divide_small(acc[first + i]);
    } else {
      TW_UNROLL
      for (int i = 0; i < tile_regs; ++i)
        acc[first + i] = by[accumulator_map::row_index(i)].divide(acc[first + i]);
    }
  }

  /// Columns beyond D take no part: results at `cols` and more after the thread's first column.
  TW_DEVICE static void clear_from(int cols, fragment& acc, int first) {
    TW_UNROLL
    for (int i = 0; i < tile_regs; ++i)
      if (accumulator_map::col_of_register(i) >= cols) acc[first + i] = 0;
  }

  /// The largest finite magnitude of each of the thread's rows. Infinities are rare: a second look
  /// leaves them out, in all lanes, for they exchange their results. False: the warp has some.
  TW_DEVICE static bool find_amax(fragment& acc, int first, float (&amax)[accumulator_map::rows]) {
    largest(acc, first, amax, [](float x) { return fabsf(x); });
    if (!vote_any(!(amax[0] < INFINITY) || !(amax[1] < INFINITY))) return true;
    largest(acc, first, amax, [](float x) { return float_of_bits(finite_magnitude_bits(x)); });
    return false;
  }
  template <class Magnitude>
  TW_DEVICE static void largest(fragment& acc, int first, float (&amax)[accumulator_map::rows],
                                Magnitude magnitude) {
    amax[0] = amax[1] = 0;
    TW_UNROLL
    for (int i = 0; i < tile_regs; ++i) {
      float& most = amax[accumulator_map::row_index(i)];
      most = fmaxf(most, magnitude(acc[first + i]));  // the other one where one is NaN
    }
    TW_UNROLL
    for (int lanes = 1; lanes <= 2; lanes *= 2)
      for (float& most : amax) most = fmaxf(most, shuffle_xor(most, lanes));
  }
};

template <gemm_config C>
requires(!C.d_m) struct epilogue_of<C, epilogues::quantize> : quantize_epilogue<C> {
};
template <gemm_config C>
struct epilogue_of<C, epilogues::gated_quantize> : quantize_epilogue<C> {};

}  // namespace tw
