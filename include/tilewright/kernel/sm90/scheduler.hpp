// SPDX-License-Identifier: Apache-2.0
// scheduler.hpp  The tile scheduler: which tiles and which K blocks of them a CTA computes, and how
//                the partial sums of a tile whose K range is divided become one.
#pragma once

#include <type_traits>

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm90/cluster_sum.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/fixup.hpp"
#include "tilewright/kernel/sm90/params.hpp"
#include "tilewright/pipeline/work.hpp"

namespace tw {

/// The common part of all kinds of tile schedulers: the places of tiles, and K blocks.
template <gemm_config C>
struct tile_places {
  /// This CTA's cluster and how many there are; of one CTA each, with a constant less to read.
  TW_DEVICE static int own_cluster() { return C.cluster() == 1 ? cta_id() : cluster_id(); }
  TW_DEVICE static int clusters() { return C.cluster() == 1 ? cta_count() : cluster_count(); }

  /// The CTA's tile of a cluster tile, in units of CTA tiles.
  TW_DEVICE static tile_place tile_of(gemm_params const& p, int cluster_tile) {
    tile_place const t = p.walk.place(cluster_tile);
    return {t.m * C.cluster_m + cluster_rank() % C.cluster_m,
            t.n * C.cluster_n + cluster_rank() / C.cluster_m % C.cluster_n, t.batch};
  }

  /// Columns of a tile.
  TW_DEVICE static int cols_of(gemm_params const& p) {
    return C.varies_tile_n() ? p.tile_cols : C.tile_n;
  }

  /// K blocks [begin, end).
  struct k_range {
    int begin, end;
  };
};

/// One CTA computes all K blocks of its tile. Sums need no reduction.
template <gemm_config C>
struct whole_tile_scheduler : tile_places<C> {
  using typename tile_places<C>::k_range;
  using work = whole_tiles;
  static constexpr bool divides_k_in_cluster = false;

  TW_DEVICE static k_range k_blocks_of(segment const& seg) { return {seg.k_begin, seg.k_end}; }

  /// Where this cluster's part of a tile is among those of other clusters. A whole tile has one.
  struct part {};
  TW_DEVICE static part part_of(gemm_params const&, segment const&, int) { return {}; }
  /// Reduces the parts of a tile. True in the warpgroup that ends with the sum in `acc`.
  template <class Fragments>
  TW_DEVICE static bool reduce(fixup_smem&, part, int, Fragments&) {
    return true;
  }
};

/// Split-K and stream-K: several clusters compute parts of a tile, which are reduced in global
/// memory. The launch's work_plan says which tiles.
template <gemm_config C>
struct split_k_scheduler : tile_places<C> {
  using typename tile_places<C>::k_range;
  using work = work_list;
  static constexpr bool divides_k_in_cluster = false;

  TW_DEVICE static k_range k_blocks_of(segment const& seg) { return {seg.k_begin, seg.k_end}; }

  using part = fixup_place;
  TW_DEVICE static part part_of(gemm_params const& p, segment const& seg, int consumer) {
    return fixup<C>::place_of(p, seg, consumer);
  }
  template <class Fragments>
  TW_DEVICE static bool reduce(fixup_smem& s, part const& at, int consumer, Fragments& acc) {
    return at.parts <= 1 || fixup<C>::add(s, at, consumer, acc[0]);
  }
};

/// The CTAs of a cluster each compute a part of K of the same tile, and exchange their sums through
/// distributed shared memory (cluster_sum).
template <gemm_config C>
struct cluster_k_scheduler : whole_tile_scheduler<C> {
  using typename tile_places<C>::k_range;
  static constexpr bool divides_k_in_cluster = true;

  /// This CTA's K blocks; none where K has fewer blocks than the cluster has CTAs.
  TW_DEVICE static k_range k_blocks_of(segment const& seg) {
    int const blocks = seg.k_end - seg.k_begin;
    return {seg.k_begin + blocks * cluster_rank() / C.cluster_k,
            seg.k_begin + blocks * (cluster_rank() + 1) / C.cluster_k};
  }
};

/// The kind of tile scheduler that a configuration has.
template <gemm_config C>
using tile_scheduler = std::conditional_t<
    (C.cluster_k > 1), cluster_k_scheduler<C>,
    std::conditional_t<C.shares_tiles(), split_k_scheduler<C>, whole_tile_scheduler<C>>>;

}  // namespace tw
