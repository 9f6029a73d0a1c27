// SPDX-License-Identifier: Apache-2.0
// cluster_sum.hpp  The CTAs of a cluster have each multiplied a part of K of one tile: they
//                  exchange their sums through distributed shared memory, each becoming the owner
//                  of some columns. Always added in the order of K, so the result has the same
//                  bits.
#pragma once

#include <type_traits>

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/quad.hpp"
#include "tilewright/kernel/sm90/sums.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

template <gemm_config C>
struct cluster_sum {
  static constexpr int parts = C.cluster_k;
  static constexpr int owners = C.owners();
  static constexpr int quads = C.fragments() * C.part_n() / wgmma_n_step;  // of a thread, in a part
  using given = sums_of<C, C.tile_n>;
  using sum = sums_of<C, C.part_n()>;
  using quad = tw::quad<sum_type<C>>;

  struct exchange {
    quad part[C.math_warpgroups()][parts][quads][warpgroup_threads];
    mbarrier parts_landed[C.math_warpgroups()];  // every CTA's part is here
    mbarrier parts_read[C.math_warpgroups()];    // every owner has read what this CTA gave
  };
  struct none {};
  using smem = std::conditional_t<(parts > 1), exchange, none>;

  TW_DEVICE static void init(smem& s) {
    for (int w = 0; w < C.math_warpgroups(); ++w) {
      s.parts_landed[w].init(1);
      s.parts_read[w].init(owners);
    }
  }

  /// Adds the fragments of all CTAs. True where this CTA owns columns, part_n from its rank times
  /// part_n: `total` holds their sums. `turn` counts the tiles; `again`: another one follows.
  TW_DEVICE static bool add(smem& s, int warpgroup, given& acc, sum& total, ring<1>& turn,
                            bool again) {
    int const t = thread_id() % warpgroup_threads;
    bool const owns = cluster_rank() < owners;
    s.parts_read[warpgroup].template wait<scope::cluster>(turn.phase ^ 1U);
    if (owns && t == 0)
      s.parts_landed[warpgroup].arrive_expect_tx(parts * quads * warpgroup_threads *
                                                 static_cast<int>(sizeof(quad)));
    TW_UNROLL
    for (int owner = 0; owner < owners; ++owner) {
      TW_UNROLL
      for (int q = 0; q < quads; ++q) {
        int const i = owner * C.part_n() / 2 + 4 * (q % (C.part_n() / wgmma_n_step));
        auto& f = acc[q / (C.part_n() / wgmma_n_step)];
        store_async(&s.part[warpgroup][cluster_rank()][q][t],
                    quad{{f[i], f[i + 1], f[i + 2], f[i + 3]}}, s.parts_landed[warpgroup], owner);
      }
    }
    std::uint32_t const phase = turn.phase;
    turn.next();
    if (!owns) return false;

    s.parts_landed[warpgroup].template wait<scope::cluster>(phase);
    TW_UNROLL
    for (int q = 0; q < quads; ++q) {
      quad x = s.part[warpgroup][0][q][t];
      TW_UNROLL
      for (int part = 1; part < parts; ++part) {
        quad const y = s.part[warpgroup][part][q][t];
        TW_UNROLL
        for (int e = 0; e < 4; ++e) x.v[e] += y.v[e];
      }
      TW_UNROLL
      for (int e = 0; e < 4; ++e)
        total[q / (C.part_n() / wgmma_n_step)][4 * (q % (C.part_n() / wgmma_n_step)) + e] = x.v[e];
    }
    if (again) {
      named_barrier_sync(1 + warpgroup, warpgroup_threads);
      if (t < parts) s.parts_read[warpgroup].arrive_remote(t);
    }
    return true;
  }
};

}  // namespace tw
