// SPDX-License-Identifier: Apache-2.0
// scheduler.hpp  The tile scheduler: which tiles and which K blocks of them a CTA computes, and how
//                the partial sums of a tile whose K range is divided become one.
#pragma once

#include <type_traits>

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/epilogue/add_c.hpp"
#include "tilewright/kernel/sm90/cluster_sum.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/fixup.hpp"
#include "tilewright/kernel/sm90/params.hpp"
#include "tilewright/pipeline/work.hpp"

namespace tw {

/// A CTA's tile of D. Producer, consumers and epilogue take its place and its extents from here
/// (docs/decisions/0053).
struct cta_tile {
  int matrix;    // of the batch
  int row, col;  // of D, where it begins; with a gate, a column of D is two columns of B
};

/// The common part of all kinds of tile schedulers: the places of tiles, and K blocks.
template <gemm_config C>
struct tile_places {
  /// This CTA's cluster and how many there are; of one CTA each, with a constant less to read.
  TW_DEVICE static int own_cluster() { return C.cluster() == 1 ? cta_id() : cluster_id(); }
  TW_DEVICE static int clusters() { return C.cluster() == 1 ? cta_count() : cluster_count(); }

  /// The CTA's tile of a segment, which is of a cluster tile.
  TW_DEVICE static cta_tile tile_of(gemm_params const& p, segment const& seg) {
    tile_place const t = p.walk.place(seg.tile);  // in units of cluster tiles
    int const m = t.m * C.cluster_m + cluster_rank() % C.cluster_m;
    int const n = t.n * C.cluster_n + cluster_rank() / C.cluster_m % C.cluster_n;
    return {t.batch, m * C.tile_m, n * (C.varies_tile_n() ? p.tile_cols : C.cols_of_d())};
  }

  /// Rows of the tile's matrix from the tile's first one on; 0 or less: the tile lies outside. They
  /// are a difference to a parameter, not a member, which would take a register in the main loop.
  TW_DEVICE static int rows_left(gemm_params const& p, cta_tile const& tile) {
    return p.m - tile.row;
  }
  /// Columns of B from the tile's first one on.
  TW_DEVICE static int b_cols_left(gemm_params const& p, cta_tile const& tile) {
    return p.n - first_b_col(tile);
  }
  /// The tile's first column of B.
  TW_DEVICE static int first_b_col(cta_tile const& tile) {
    return C.gated() ? 2 * tile.col : tile.col;
  }
  /// Columns of B in a tile.
  TW_DEVICE static int b_cols_of(gemm_params const& p) {
    return C.varies_tile_n() ? p.tile_cols : C.tile_n;
  }

  /// Where fragments of the tile are stored, whose first element is `rows` below and `cols` right
  /// of the tile's.
  TW_DEVICE static fragment_place place_in_d(gemm_params const&, cta_tile const& tile, int rows,
                                             int cols) {
    return {tile.row + rows, tile.col + cols, tile.matrix};
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
