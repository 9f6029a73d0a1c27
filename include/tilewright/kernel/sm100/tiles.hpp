// SPDX-License-Identifier: Apache-2.0
// tiles.hpp  The tiles of a cluster: every cluster_count()th one, or with cluster launch control
//            those of clusters that are not launched, which one warp requests ahead.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm100/config.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tilewright/pipeline/order.hpp"

namespace tw {

template <sm100_config C>
struct sm100_tiles {
  /// Answers to launch_cancel(), two that take turns.
  static constexpr int answers = 2;
  struct next_tiles {
    launch_response answer[answers];
    mbarrier answered[answers], answer_free[answers];
  };
  struct no_next_tiles {};
  /// Of a CTA, in shared memory.
  using memory = std::conditional_t<C.dynamic, next_tiles, no_next_tiles>;

  /// By one thread, before the first barrier. In each CTA the warp that requests, the one that
  /// loads and those of the epilogue read an answer; and the warp that multiplies.
  TW_DEVICE static void init_barriers(memory& m) {
    for (int i = 0; i < answers; ++i) {
      m.answered[i].init(1);
      m.answer_free[i].init(C.ctas * (2 + sm100_cta::epilogue_warps) + 1);
    }
  }

  /// f(tile, i): the tiles of this cluster, the i-th one. The calling threads of a warp: all, or
  /// one that was elected.
  template <int Lanes, class F>
  TW_DEVICE static void each(tile_walk const& walk, memory& m, F&& f) {
    if constexpr (C.dynamic) {
      int t = cluster_id();
      for (int i = 0; t >= 0; ++i) {
        f(walk.place(t), i);
        t = next<Lanes>(m, i);
      }
    } else {
      int i = 0;
      for (int t = cluster_id(); t < walk.order.tiles(); t += cluster_count(), ++i)
        f(walk.place(t), i);
    }
  }

  /// The (i + 1)th tile, that of a cluster which is not launched; -1: no more.
  template <int Lanes>
  TW_DEVICE static int next(memory& m, int i) {
    int const at = i % answers;
    m.answered[at].wait(static_cast<std::uint32_t>(i / answers) & 1U);
    launch_response const& answer = m.answer[at];
    int const tile = launch_cancelled(answer) ? launch_cancelled_cta(answer).x / C.ctas : -1;
    fence_proxy_async();  // the next answer is written by the async proxy
    if constexpr (Lanes > 1) warp_sync();
    if (Lanes == 1 || lane_id() == 0) {
      if constexpr (C.ctas == 1)
        m.answer_free[at].arrive();
      else
        m.answer_free[at].arrive_remote(0);
    }
    return tile;
  }

  /// Requests tiles until an answer names none. In a pair the even CTA does it for both, once all
  /// readers of the answer before the last one have read it.
  TW_DEVICE static void request(memory& m) {
    enter_role("request");
    int tile = 0;
    for (int i = 0; tile >= 0; ++i) {
      int const at = i % answers;
      if (leads())
        m.answer_free[at].template wait<C.ctas == 1 ? scope::cta : scope::cluster>(
            (static_cast<std::uint32_t>(i / answers) & 1U) ^ 1U);
      m.answered[at].arrive_expect_tx(sizeof(launch_response));
      if (leads()) {
        if constexpr (C.ctas == 1)
          launch_cancel(m.answer[at], m.answered[at]);
        else
          launch_cancel_multicast(m.answer[at], m.answered[at]);
      }
      tile = next<1>(m, i);
    }
  }

 private:
  /// Is it the even CTA of a pair, or alone?
  TW_DEVICE static bool leads() { return C.ctas == 1 || cluster_rank() == 0; }
};

}  // namespace tw
