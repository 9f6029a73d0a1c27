// SPDX-License-Identifier: Apache-2.0
// fused.hpp  Fused epilogues: scales, bias, activation, gate, C and an auxiliary output
//            (problem/epilogue.hpp). ops.hpp computes, this file stores.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/epilogue/ops.hpp"
#include "tilewright/kernel/sm90/epilogue/staged_c.hpp"
#include "tilewright/kernel/sm90/epilogue/store.hpp"

namespace tw {

template <gemm_config C>
struct fused_epilogue : epilogue_store<C> {
  using base = epilogue_store<C>;
  using base::box;
  using base::epilogue_tiles;
  using base::tile_regs;
  using typename base::fragment;
  using typename base::writer;
  using ops = epilogue_ops<C>;

  /// Stores a warpgroup's fragments, (64, d_cols) each, one below the other; the first at D(at).
  template <int Fragments>
  TW_DEVICE static void store(epilogue_params const& p, epilogue_smem<C>& s, int warpgroup,
                              fragment_place at, fragment (&acc)[Fragments], staging_state& state) {
    writer const w{s, warpgroup, thread_id_anew() % warpgroup_threads};
    if constexpr (!C.aux()) {
      if (ops::is_simple(p, at) && base::all_by_tma(p, fragment_at(at, Fragments - 1)))
        return with_activation<C.gated()>(p.fused.act, [&](auto act) {
          unrolled<Fragments>(
              [&](auto f) { store_simple(p, w, fragment_at(at, f), acc[f], state, act); });
        });
    }
    unrolled<Fragments>([&](auto f) { store_any(p, w, fragment_at(at, f), acc[f], state); });
  }

  /// Stores a warpgroup's fragments as store() does, with C that `loaded` brings. A rolled loop:
  /// each turn takes the first tile's results and moves all other results down.
  template <int Fragments>
  TW_DEVICE static void store_with_c(staged_c<C> const& loaded, fragment (&acc)[Fragments],
                                     staging_state& state) {
    epilogue_params const& p = loaded.p.epilogue;
    writer const& w = loaded.w;
    ops vectors(p, loaded.at);
    TW_NO_UNROLL
    for (int i = 0; i < c_buffers<C>::tiles; ++i) {
      fragment_place const to = loaded.place_of(i);
      vectors.share(p, w.smem.vectors[w.warpgroup], loaded.place_of(i + 1));
      w.sync();
      loaded.wait(i, state.odd_loads());
      c_by_tma const c{loaded, i};
      ops::make_x(p, w.smem.vectors[w.warpgroup], to, acc[0], 0, c);
      ops::make_y(p, w.smem.vectors[w.warpgroup], to, acc[0], 0, c);
      base::store_tile(w, d_of<C>(p, to), base::end_of(to) <= p.tma_end, loaded.buffer(i), to,
                       tile_results<fragment>{acc[0], 0});
      loaded.load_next(i);
      base::template move_down<ops::regs>(acc);
    }
    if constexpr (c_buffers<C>::turns % 2 != 0) state.swap_loads();
  }

 private:
  /// Adds beta * C to the first epilogue tile in `acc`: tile i, which TMA has brought.
  struct c_by_tma {
    staged_c<C> const& loaded;
    int i;
    template <int Rows>
    TW_DEVICE void add(fragment_place, fragment& acc, int) const {
      loaded.add(loaded.buffer(i), acc);
    }
  };

  TW_DEVICE static fragment_place fragment_at(fragment_place at, int f) {
    return at.below(wgmma_m * f);
  }

  /// The thread's values of the auxiliary output: x of the results, or of what their gates
  /// multiply.
  struct aux_results {
    fragment& acc;
    int first, part;
    TW_DEVICE float operator[](int i) const { return acc[ops::register_of(first, i) + 4 * part]; }
  };

  /// A fragment with the simple kind of fused epilogue, without code for others in between.
  template <class Act>
  TW_DEVICE static void store_simple(epilogue_params const& p, writer const& w, fragment_place at,
                                     fragment& acc, staging_state& state, Act act) {
    ops vectors(p, at);
    unrolled<epilogue_tiles>([&](auto index) {
      constexpr int j = index;
      fragment_place const to = at.right(j * box.cols);
      vectors.share(p, w.smem.vectors[w.warpgroup], to.right(box.cols));
      base::wait_for_next(w);
      ops::make_simple(p, w.smem.vectors[w.warpgroup], to, acc, j, act);
      std::byte* const staged_tile = base::next_tile(w, state);
      w.fill(staged_tile, tile_results<fragment>{acc, j * tile_regs});
      fence_proxy_async();  // the writes above are for the async proxy
      w.sync();
      base::store_boxes(w, d_of<C>(p, at), staged_tile, to);
      if (w.leads()) tma_store_commit();
      state.swap_halves();
    });
  }

  /// A fragment with any fused epilogue; the two staging buffers alternate from one store to the
  /// next.
  TW_DEVICE static void store_any(epilogue_params const& p, writer const& w, fragment_place at,
                                  fragment& acc, staging_state& state) {
    constexpr bool gated = C.gates_cols();
    ops vectors(p, at);
    unrolled<epilogue_tiles>([&](auto index) {
      constexpr int j = index;
      fragment_place const to = at.right(j * box.cols);
      vectors.share(p, w.smem.vectors[w.warpgroup], to.right(box.cols));
      base::wait_for_next(w);
      ops::make_x(p, w.smem.vectors[w.warpgroup], to, acc, j);
      if constexpr (C.aux()) {
        // A box must not reach from the gates' columns into the others.
        bool const by_tma =
            base::end_of(to) <= p.fused.aux_tma_end && (!gated || to.col + box.cols <= p.n);
        unrolled<gated ? 2 : 1>([&](auto part) {
          store_next(w, aux_destination<C>{p, part}, by_tma, to,
                     aux_results{acc, j * ops::regs, part}, state);
          base::wait_for_next(w);
        });
      }
      ops::make_y(p, w.smem.vectors[w.warpgroup], to, acc, j);
      store_next(w, d_of<C>(p, at), base::end_of(to) <= p.tma_end, to,
                 tile_results<fragment>{acc, j * tile_regs}, state);
    });
  }

  /// An epilogue tile through the staging buffer that is next.
  template <class Destination, class Results>
  TW_DEVICE static void store_next(writer const& w, Destination const& destination, bool by_tma,
                                   fragment_place at, Results const& results,
                                   staging_state& state) {
    base::store_tile(w, destination, by_tma, base::next_tile(w, state), at, results);
    state.swap_halves();
  }
};

template <gemm_config C>
struct epilogue_of<C, epilogues::ops> : fused_epilogue<C> {};
template <gemm_config C>
struct epilogue_of<C, epilogues::gated> : fused_epilogue<C> {};
template <gemm_config C>
struct epilogue_of<C, epilogues::ops_aux> : fused_epilogue<C> {};
template <gemm_config C>
struct epilogue_of<C, epilogues::gated_aux> : fused_epilogue<C> {};

}  // namespace tw
