// SPDX-License-Identifier: Apache-2.0
// plain.hpp  The epilogue D = alpha * acc + beta * C, rounded once; of 8-bit operands also with
//            row and column scales, alpha * acc * row scale * column scale.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/epilogue/add_c.hpp"
#include "tilewright/kernel/sm90/epilogue/ops.hpp"
#include "tilewright/kernel/sm90/epilogue/staged_c.hpp"
#include "tilewright/kernel/sm90/epilogue/store.hpp"

namespace tw {

template <gemm_config C>
struct plain_epilogue : epilogue_store<C> {
  using base = epilogue_store<C>;
  using base::box;
  using base::epilogue_tiles;
  using base::staged;
  using base::tile_regs;
  using typename base::fragment;
  using typename base::writer;
  using rows = fragment_rows<C>;

  /// Stores a warpgroup's fragments, (64, d_cols) each, one below the other; the first at D(at).
  template <int Fragments>
  TW_DEVICE static void store(epilogue_params const& p, epilogue_smem<C>& s, int warpgroup,
                              fragment_place at, fragment (&acc)[Fragments], staging_state& state) {
    writer const w{s, warpgroup, thread_id_anew() % warpgroup_threads};
    constexpr int groups = Fragments * epilogue_tiles / staged.group;
    d_destination<C> const d = d_of<C>(p, at);  // once, for it may read memory
    float const alpha = alpha_after_scales(p, at, acc);
    if (sums_are_d(p, at.below(wgmma_m * (Fragments - 1)), alpha))
      unrolled<groups>([&](auto g) { store_sums<g * staged.group>(d, w, at, acc, state); });
    else
      store_any(d, w, at, acc, state, alpha);
    if (staged.halves == 2 && groups % 2 != 0) state.swap_halves();
    state.set_used();
  }

  /// Stores a warpgroup's fragments as store() does, with C that `loaded` brings. A rolled loop, as
  /// in store_any().
  template <int Fragments>
  TW_DEVICE static void store_with_c(staged_c<C> const& loaded, fragment (&acc)[Fragments],
                                     staging_state& state) {
    epilogue_params const& p = loaded.p.epilogue;
    d_destination<C> const d = d_of<C>(p, loaded.at);
    float const alpha = alpha_after_scales(p, loaded.at, acc);
    TW_NO_UNROLL
    for (int i = 0; i < c_buffers<C>::tiles; ++i) {
      fragment_place const to = loaded.place_of(i);
      TW_UNROLL
      for (int x = 0; x < tile_regs; ++x) acc[0][x] = times_alpha(alpha, acc[0][x]);
      loaded.wait(i, state.odd_loads());
      loaded.add(loaded.buffer(i), acc[0]);
      base::store_tile(loaded.w, d, base::end_of(to) <= p.tma_end, loaded.buffer(i), to,
                       tile_results<fragment>{acc[0], 0});
      loaded.load_next(i);
      base::template move_down<tile_regs>(acc);
    }
    if constexpr (c_buffers<C>::turns % 2 != 0) state.swap_loads();
  }

 private:
  /// The factor that the sums still need: alpha, or 1 after their row and column scales.
  template <int Fragments>
  TW_DEVICE static float alpha_after_scales(epilogue_params const& p, fragment_place at,
                                            fragment (&acc)[Fragments]) {
    float const alpha = alpha_of<C>(p, at);
    if constexpr (takes_scales(C)) {
      if (p.fused.row_scale != nullptr || p.fused.col_scale != nullptr) {
        multiply_scales(p, alpha, at, acc);
        return 1;
      }
    }
    return alpha;
  }

  /// Is D the sum itself, without alpha and beta?
  static constexpr bool exact = holds_integer_sums(C.d);

  /// Does TMA store all of them, and are the sums D?
  TW_DEVICE static bool sums_are_d(epilogue_params const& p, fragment_place at, float alpha) {
    return base::all_by_tma(p, at) && (exact || (alpha == 1.0F && p.c.data == nullptr));
  }

  /// acc = alpha * acc, times the scales of its rows and columns: those of the rows of the
  /// requested GEMM first, as in epilogue_ops.
  template <int Fragments>
  TW_DEVICE static void multiply_scales(epilogue_params const& p, float alpha, fragment_place at,
                                        fragment (&acc)[Fragments]) {
    fused_params const& f = p.fused;
    int const row = at.row + rows::row_of(warp_id() % warps_of_warpgroup, lane_id());
    int const col = at.col + accumulator_map::col_of(lane_id());
    float of_row[Fragments][accumulator_map::rows];
    unrolled<Fragments>([&](auto k) {
      TW_UNROLL
      for (int r = 0; r < accumulator_map::rows; ++r) {
        int const i = row + wgmma_m * k + rows::distance * r;
        of_row[k][r] = f.row_scale == nullptr ? 1.0F : row_scale_at<C>(p, vector_row<C>(p, at, i));
      }
    });
    TW_UNROLL
    for (int g = 0; g < fragment::size / 4; ++g) {  // 8 columns, of which a thread has two
      TW_UNROLL
      for (int i = 0; i < 2; ++i) {
        int const c = col + 8 * g + i;
        int const in_d = c < p.n ? c : p.n - 1;
        float const of_col =
            f.col_scale == nullptr ? 1.0F : col_scale_at<C>(p, vector_col<C>(at, in_d, p.n));
        unrolled<Fragments>([&](auto k) {
          TW_UNROLL
          for (int r = 0; r < accumulator_map::rows; ++r) {
            auto& x = acc[k][4 * g + 2 * r + i];
            float const y = times_alpha(alpha, x);
            x = f.col_scale_first ? y * of_col * of_row[k][r] : y * of_row[k][r] * of_col;
          }
        });
      }
    }
  }

  /// Where epilogue tile i of a warpgroup's fragments goes; the first fragment is at D(at).
  TW_DEVICE static fragment_place place_of(fragment_place at, int i) {
    return at.below(wgmma_m * (i / epilogue_tiles)).right(i % epilogue_tiles * box.cols);
  }
  /// The staging buffer for it.
  TW_DEVICE static std::byte* staging_for(writer const& w, int i, staging_state const& state) {
    int const half = staged.halves == 1 ? 0 : state.half(i / staged.group);
    return w.smem.staging_tile[w.warpgroup][half * staged.group + i % staged.group];
  }

  /// Epilogue tiles First and following, a group, for which sums_are_d() holds, as for nearly all.
  /// Other paths are out of line: even untaken branches cost here (docs/decisions/0019).
  template <int First, int Fragments>
  TW_DEVICE static void store_sums(d_destination<C> const& d, writer const& w, fragment_place at,
                                   fragment (&acc)[Fragments], staging_state const& state) {
    if (staged.halves == 1 && (First > 0 || state.used())) w.template wait_for_tiles<0>();
    unrolled<staged.group>([&](auto k) {
      constexpr int i = First + k, j = i % epilogue_tiles;
      w.next().fill(staging_for(w, i, state),
                    tile_results<fragment>{acc[i / epilogue_tiles], j * tile_regs});
    });
    fence_proxy_async();  // the writes above are for the async proxy
    if (staged.halves == 2 && w.leads()) tma_store_wait_read<0>();  // the other half is free
    w.sync();
    unrolled<staged.group>([&](auto k) {
      base::store_boxes(w, d, staging_for(w, First + k, state), place_of(at, First + k));
    });
    if (w.leads()) tma_store_commit();
  }

  /// All epilogue tiles, with any operands: a rolled loop, for its code is half of a kernel's.
  /// Each turn takes the first tile's results and moves those of the others down.
  template <int Fragments>
  TW_DEVICE static void store_any(d_destination<C> const& d, writer const& w, fragment_place at,
                                  fragment (&acc)[Fragments], staging_state const& state,
                                  float alpha) {
    TW_NO_UNROLL
    for (int i = 0; i < Fragments * epilogue_tiles; ++i) {
      fragment_place const to = place_of(at, i);
      if (i % staged.group == 0 && (i > 0 || state.used())) w.template wait_for_tiles<0>();
      if constexpr (!exact) scale(d, w.anew(), to, acc[0], alpha);
      base::store_tile(w.anew(), d, base::end_of(to) <= d.p.tma_end, staging_for(w, i, state), to,
                       tile_results<fragment>{acc[0], 0});
      base::template move_down<tile_regs>(acc);
    }
  }

  /// A fragment's first tile, at D(at): alpha * acc + beta * C.
  TW_DEVICE static void scale(d_destination<C> const& d, writer const& w, fragment_place at,
                              fragment& acc, float alpha) {
    epilogue_params const& p = d.p;
    TW_UNROLL
    for (int i = 0; i < tile_regs; ++i) acc[i] = times_alpha(alpha, acc[i]);
    if (p.c.data != nullptr)
      add_c<tile_regs, C.reads_c_in_pairs(), names_lines(C)>(
          p, at.below(w.first_row()).right(w.first_col()), d.end(), acc, 0, rows::distance);
  }
};

template <gemm_config C>
struct epilogue_of<C, epilogues::plain> : plain_epilogue<C> {};

}  // namespace tw
