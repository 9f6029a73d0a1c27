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
  int row, col;  // of D, its first; with a gate, a column of D is two columns of B. With a gate of
                 // rows, the row is of A, of which two are a row of D
};

/// The common part of all kinds of tile schedulers: the places of tiles, and K blocks.
template <gemm_config C>
struct tile_places {
  using segment = tw::segment;
  using tile = cta_tile;

  /// This CTA's cluster and how many there are; of one CTA each, with a constant less to read.
  TW_DEVICE static int own_cluster() { return C.cluster() == 1 ? cta_id() : cluster_id(); }
  TW_DEVICE static int clusters() { return C.cluster() == 1 ? cta_count() : cluster_count(); }

  /// The CTA's tile of a segment, which is of a cluster tile.
  TW_DEVICE static cta_tile tile_of(gemm_params const& p, segment const& seg) {
    return in_cluster(p, p.walk.place(seg.tile));
  }
  /// The CTA's tile of the cluster tile at `t`.
  TW_DEVICE static cta_tile in_cluster(gemm_params const& p, tile_place t) {
    int const m = t.m * C.cluster_m + cluster_rank() % C.cluster_m;
    int const n = t.n * C.cluster_n + cluster_rank() / C.cluster_m % C.cluster_n;
    return {t.batch, m * C.tile_m, n * cols_of_d(p)};
  }
  /// Columns of D of a tile.
  TW_DEVICE static int cols_of_d(gemm_params const& p) {
    return C.varies_tile_n() ? p.tile_cols : C.cols_of_d();
  }
  /// A tile whose members are the same in a warp.
  TW_DEVICE static cta_tile uniform(cta_tile const& t) {
    return {warp_uniform(t.matrix), warp_uniform(t.row), warp_uniform(t.col)};
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
    return C.gates_cols() ? 2 * tile.col : tile.col;
  }
  /// The beginning of its loads: a row of A and a column of B.
  TW_DEVICE static int a_origin(cta_tile const& tile) { return tile.row; }
  TW_DEVICE static int b_origin(cta_tile const& tile) { return first_b_col(tile); }
  /// The column of D, of all groups, that column scales are numbered by.
  TW_DEVICE static int scale_col(cta_tile const& tile) { return tile.col; }
  static constexpr bool loads_whole_a = false;  // rows that are not of the tile's matrix too
  static constexpr bool loads_whole_b = false;
  /// Columns of B in a tile.
  TW_DEVICE static int b_cols_of(gemm_params const& p) {
    return C.varies_tile_n() ? p.tile_cols : C.tile_n;
  }

  /// Where fragments of the tile are stored, whose first element is `rows` below and `cols` right
  /// of the tile's.
  TW_DEVICE static fragment_place place_in_d(gemm_params const&, cta_tile const& tile, int rows,
                                             int cols) {
    return {C.row_of_d(tile.row + rows), tile.col + cols, tile.matrix};
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

/// A CTA's tile of a group. `matrix` is the group; `row` and `col` count from its first row or
/// column.
struct group_tile : cta_tile {
  int begin = 0, size = 0;  // as in group_segment
};

/// Groups of rows or of columns of D, whole tiles (docs/decisions/0054). TMA clips a box at the end
/// of its map only. The map of D therefore has matrices of L rows (L: rows of all groups) that are
/// one row apart, and its base lies L rows before D: matrix e of the map ends at row e of D. A
/// group of `size` rows that ends before row e of D is the last `size` rows of matrix e: row r of
/// the group has the coordinate L - size + r. Loads are not clipped: rows of the next group that a
/// box brings are not stored.
template <gemm_config C>
struct group_scheduler : whole_tile_scheduler<C> {
  using base = whole_tile_scheduler<C>;
  using segment = group_segment;
  using work = group_tiles;
  using tile = group_tile;
  static constexpr bool of_rows = C.ragged == group_axis::m;
  static constexpr bool loads_whole_a = of_rows, loads_whole_b = !of_rows;

  /// Rows or columns of a group in a cluster tile.
  TW_DEVICE static int step(gemm_params const& p) {
    return of_rows ? C.tile_m * C.cluster_m : base::b_cols_of(p) * C.cluster_n;
  }
  /// A warp prepares the work of the CTA, once the sizes have been written.
  TW_DEVICE static void prepare(gemm_params const& p, group_table& t) {
    fill_group_table(p.group.sizes, step(p), p.group.across, cta_id() == 0, t);
  }
  TW_DEVICE static work work_of(gemm_params const& p, group_table const& t) {
    return {t, p.group.sizes, base::own_cluster()};
  }

  /// Tiles of a group go through bands along the ragged extent, each from one end of the other
  /// extent to the other one. No tile: the first of an empty group.
  TW_DEVICE static group_tile tile_of(gemm_params const& p, segment const& seg) {
    int const steps = (seg.size + step(p) - 1) / step(p);
    int const of_band = p.group.band * p.group.across;
    int const band = seg.tile / of_band, in_band = seg.tile - band * of_band;
    int const left = steps - band * p.group.band;
    int const high = left < 1 ? 1 : left < p.group.band ? left : p.group.band;
    int const other = in_band / high, along = band * p.group.band + in_band - other * high;
    tile_place const t =
        of_rows ? tile_place{along, other, seg.group} : tile_place{other, along, seg.group};
    return {base::in_cluster(p, t), seg.begin, seg.size};
  }
  TW_DEVICE static group_tile uniform(group_tile const& t) {
    return {base::uniform(t), warp_uniform(t.begin), warp_uniform(t.size)};
  }
  TW_DEVICE static int rows_left(gemm_params const& p, group_tile const& t) {
    return (of_rows ? t.size : p.m) - t.row;
  }
  TW_DEVICE static int b_cols_left(gemm_params const& p, group_tile const& t) {
    return (of_rows ? p.n : t.size) - base::first_b_col(t);
  }
  TW_DEVICE static int a_origin(group_tile const& t) { return t.row + (of_rows ? t.begin : 0); }
  TW_DEVICE static int b_origin(group_tile const& t) {
    return base::first_b_col(t) + (of_rows ? 0 : t.begin);
  }
  TW_DEVICE static int scale_col(group_tile const& t) { return t.col + (of_rows ? 0 : t.begin); }
  TW_DEVICE static fragment_place place_in_d(gemm_params const& p, group_tile const& t, int rows,
                                             int cols) {
    int const end = t.begin + t.matrix * p.group.slot_rows + t.size;
    int const before = (of_rows ? p.m : p.n) - t.size;  // in the map
    int const in_vectors = p.group.slot_rows == 0 ? t.begin : t.matrix * (of_rows ? p.m : p.n);
    return {(of_rows ? before : 0) + C.row_of_d(t.row + rows),
            (of_rows ? 0 : before) + t.col + cols, end, t.matrix, in_vectors - before};
  }
};

/// Groups of K: a D for each, of whole tiles.
template <gemm_config C>
struct group_k_scheduler : whole_tile_scheduler<C> {
  using base = whole_tile_scheduler<C>;
  using segment = group_segment;
  using work = group_blocks;

  TW_DEVICE static void prepare(gemm_params const& p, group_table& t) {
    fill_group_table(p.group.sizes, C.tile_k(), 1, cta_id() == 0, t);
  }
  /// The number, among the K blocks of all groups, of the first one of the segment's group: each
  /// group begins a K block, and block scales follow each other in this order. None is beyond
  /// the scales, whatever the sizes are.
  TW_DEVICE static int first_block(gemm_params const& p, group_table const& t,
                                   group_segment const& seg) {
    int const first = t.first_tile[seg.group], last = p.group.scale_blocks - seg.k_end;
    return first < last ? first : last;
  }
  TW_DEVICE static work work_of(gemm_params const& p, group_table const& t) {
    return {t, p.group.sizes, C.tile_k(), p.walk.product, base::own_cluster()};
  }
  TW_DEVICE static fragment_place place_in_d(gemm_params const&, cta_tile const& tile, int rows,
                                             int cols) {
    return {tile.row + rows, tile.col + cols, tile.matrix, tile.matrix};
  }
};

/// The kind of tile scheduler that a configuration has.
template <gemm_config C>
using tile_scheduler = std::conditional_t<
    C.ragged == group_axis::k, group_k_scheduler<C>,
    std::conditional_t<C.grouped(), group_scheduler<C>,
                       std::conditional_t<(C.cluster_k > 1), cluster_k_scheduler<C>,
                                          std::conditional_t<C.shares_tiles(), split_k_scheduler<C>,
                                                             whole_tile_scheduler<C>>>>>;

/// The table of groups, in kernels that have some.
template <gemm_config C>
struct group_smem {};
template <gemm_config C>
requires(C.grouped()) struct group_smem<C> {
  group_table table;
};

}  // namespace tw
