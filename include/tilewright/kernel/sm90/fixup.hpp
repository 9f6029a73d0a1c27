// SPDX-License-Identifier: Apache-2.0
// fixup.hpp  A tile that several clusters share: each writes its partial sums to global memory, and
//            the one that arrives last adds them up in order of K. No CTA waits for another, so any
//            number of CTAs may be resident; the result does not depend on who was last.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/fixup_size.hpp"
#include "tilewright/kernel/sm90/params.hpp"
#include "tilewright/kernel/sm90/quad.hpp"
#include "tilewright/kernel/sm90/sums.hpp"

namespace tw {

struct fixup_smem {
  int last[4];  // per warpgroup: did it arrive last?
};

/// A cluster's part of a tile, and where the parts are reduced.
struct fixup_place {
  int parts = 1;  // of the tile
  int part = 0;   // this cluster's
  std::uint32_t* counters = nullptr;
  float* partials = nullptr;  // of the tile's first part
};

template <gemm_config C>
struct fixup {
  static_assert(C.shares_tiles());
  static constexpr int group = fixup_group(C.tile_n);
  using fragment = accumulator<C.tile_n, sum_type<C>>;
  using quad = tw::quad<sum_type<C>>;
  /// A thread's accumulators in fours, and the floats of a warpgroup's part and of a cluster tile.
  static constexpr int quads = C.tile_n / wgmma_n_step;
  static constexpr int warpgroup_floats = C.warpgroup_m() * C.tile_n;
  static constexpr int writers = C.writers();  // of a cluster tile
  static constexpr int tile_floats = writers * warpgroup_floats;

  /// Of `seg`, for this warpgroup: before the main loop, while the first loads are in flight. After
  /// it the divisions and parameters that no cache has yet take half a microsecond
  /// (docs/decisions/0023).
  TW_DEVICE static fixup_place place_of(gemm_params const& p, segment const& seg, int consumer) {
    if (seg.k_end - seg.k_begin == p.work.k_tiles) return {};
    int const first = p.work.first_part(seg.tile);
    int const writer = cluster_rank() * C.math_warpgroups() + consumer;
    return {p.work.last_part(seg.tile) - first + 1, p.work.part_of(cluster_id()) - first,
            p.fixup.arrivals + (seg.tile * writers + writer) * p.fixup.counters,
            p.fixup.partials + std::int64_t{2} * first * tile_floats + writer * warpgroup_floats};
  }

  /// Adds this warpgroup's part. True in the warpgroup that ends with the tile's sum in `acc`.
  TW_DEVICE static bool add(fixup_smem& s, fixup_place const& at, int consumer, fragment& acc) {
    // First the group of neighbours, then, if there are several, the groups' sums.
    int part = at.part, step = 1;
    int begin = part / group * group;
    int end = begin + group < at.parts ? begin + group : at.parts;
    std::uint32_t* counter = at.counters + (at.parts <= group ? 0 : 1 + part / group);
    for (;;) {
      write(quads_of(at, part), acc);
      if (!arrive(counter, (end - begin + step - 1) / step, s, consumer)) return false;
      sum(at, begin, end, step, acc);
      if (begin == 0 && end == at.parts) return true;
      part = begin, step = group, begin = 0, end = at.parts, counter = at.counters;
    }
  }

 private:
  /// This thread's share of part i. A cluster has two places: 1 for a part that begins with its
  /// tile, 0 for one that continues what another began.
  TW_DEVICE static quad* quads_of(fixup_place const& at, int i) {
    std::int64_t const place = 2 * i + (i == 0 ? 1 : 0);
    return reinterpret_cast<quad*>(at.partials + place * tile_floats) +
           thread_id_anew() % warpgroup_threads;
  }

  TW_DEVICE static void write(quad* to, fragment& acc) {
    TW_UNROLL
    for (int q = 0; q < quads; ++q) {
      int const i = 4 * q;
      to[warpgroup_threads * q] = {{acc[i], acc[i + 1], acc[i + 2], acc[i + 3]}};
    }
  }

  /// Loads that a thread has in flight together, which hide the latency of each.
  static constexpr int loads_at_once = C.consumers() > 4 ? 8 : C.consumers() > 3 ? 12 : 32;
  /// acc = the parts first, first + step, ... below end, added in this order. Small parts are read
  /// together.
  TW_DEVICE static void sum(fixup_place const& at, int first, int end, int step, fragment& acc) {
    constexpr int parts_of_loads = loads_at_once < quads ? 1 : loads_at_once / quads;
    constexpr int at_once = parts_of_loads < group ? parts_of_loads : group;
    TW_UNROLL
    for (int i = 0; i < fragment::size; ++i) acc[i] = 0;
    for (int part = first; part < end; part += at_once * step) {
      quad x[at_once][quads];
      TW_UNROLL
      for (int b = 0; b < at_once; ++b) {
        bool const there = part + b * step < end;
        quad const* const from = quads_of(at, there ? part + b * step : first);
        TW_UNROLL
        for (int q = 0; q < quads; ++q) x[b][q] = from[warpgroup_threads * q];
      }
      TW_UNROLL
      for (int b = 0; b < at_once; ++b) {
        if (part + b * step >= end) continue;
        TW_UNROLL
        for (int q = 0; q < quads; ++q) {
          TW_UNROLL
          for (int e = 0; e < 4; ++e) acc[4 * q + e] += x[b][q].v[e];
        }
      }
    }
  }

  /// Announces what the warpgroup has written. True in the one that makes `count` complete, which
  /// sees what all have written; it leaves the counter at zero for the next launch.
  TW_DEVICE static bool arrive(std::uint32_t* counter, int count, fixup_smem& s, int consumer) {
    named_barrier_sync(1 + consumer, warpgroup_threads);
    if (thread_id_anew() % warpgroup_threads == 0) {
      bool const last = atomic_add(counter, 1U) == static_cast<std::uint32_t>(count - 1);
      if (last) store_relaxed(counter, 0U);
      s.last[consumer] = last ? 1 : 0;
    }
    named_barrier_sync(1 + consumer, warpgroup_threads);
    return s.last[consumer] != 0;
  }
};

}  // namespace tw
