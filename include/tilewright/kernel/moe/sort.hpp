// SPDX-License-Identifier: Apache-2.0
// sort.hpp  A stable counting sort of pairs (token, choice) by expert, in one launch and without
//           atomics: a CTA owns a few experts. It counts the pairs of lower experts, which gives
//           their first place, then walks all pairs in order; ballots number the pairs of an
//           expert.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/moe/params.hpp"

namespace tw {

struct moe_sort_kernel {
  using params = moe_sort_params;
  static constexpr int threads = 256, cluster = 1, warps = threads / warp_threads;
  static constexpr int own = 8;  // experts of a CTA
  struct smem {
    int lower[warps];       // pairs of experts below the CTA's, by warp
    int count[warps][own];  // pairs of each of the CTA's experts
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_HD static constexpr int ctas(params const& p) { return (p.groups + own - 1) / own; }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if constexpr (dependent_launches()) {
      grid_dependents_launch();
      grid_dependency_wait();  // the launch before may write the experts
    }
    int const first = cta_id() * own, lane = lane_id(), warp = warp_id();
    int lower = 0, mine[own] = {};
    for (int i = thread_id(); i < p.pairs; i += threads) {
      int const e = p.experts[i];
      lower += e >= 0 && e < first ? 1 : 0;
      TW_UNROLL
      for (int j = 0; j < own; ++j) mine[j] += e == first + j ? 1 : 0;
    }
    lower = redux_add(lower);
    if (lane == 0) s.lower[warp] = lower;
    TW_UNROLL
    for (int j = 0; j < own; ++j) {
      int const sum = redux_add(mine[j]);
      if (lane == 0) s.count[warp][j] = sum;
    }
    cta_sync();
    int at[own], end = 0;  // the next place of each expert
    for (int w = 0; w < warps; ++w) end += s.lower[w];
    TW_UNROLL
    for (int j = 0; j < own; ++j) {
      at[j] = end;
      for (int w = 0; w < warps; ++w) end += s.count[w][j];
      if (thread_id() == j && first + j < p.groups) {
        if (p.counts != nullptr) p.counts[first + j] = end - at[j];
        p.ends[first + j] = end;
      }
    }
    cta_sync();  // all have read the counts
    for (int round = 0; round < p.pairs; round += threads) {
      int const i = round + thread_id();
      int const e = i < p.pairs ? p.experts[i] : -1;
      int before = 0;  // pairs of the same expert in lower lanes
      TW_UNROLL
      for (int j = 0; j < own; ++j) {
        std::uint32_t const same = ballot(e == first + j);
        if (e == first + j) before = popcount(same & ((1U << lane) - 1));
        if (lane == 0) s.count[warp][j] = popcount(same);
      }
      cta_sync();
      TW_UNROLL
      for (int j = 0; j < own; ++j) {
        int place = at[j] + before;
        for (int w = 0; w < warps; ++w) {
          place += w < warp ? s.count[w][j] : 0;
          at[j] += s.count[w][j];
        }
        if (e == first + j && e < p.groups) {
          p.source[place] = i;
          p.place[i] = place;
        }
      }
      // The first CTA writes -1 for pairs without an expert.
      if (cta_id() == 0 && i < p.pairs && (e < 0 || e >= p.groups)) p.place[i] = -1;
      cta_sync();
    }
  }

 private:
  TW_DEVICE static int popcount(std::uint32_t x) {
    x -= x >> 1 & 0x55555555U;
    x = (x & 0x33333333U) + (x >> 2 & 0x33333333U);
    x = (x + (x >> 4)) & 0x0F0F0F0FU;
    return static_cast<int>(x * 0x01010101U >> 24);
  }
};

}  // namespace tw
