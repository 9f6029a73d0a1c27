// SPDX-License-Identifier: Apache-2.0
// work.hpp  Who computes what: tiles as a whole, or K ranges of tiles that several clusters share.
#pragma once

#include <cstdint>

#include "tilewright/base/hd.hpp"

namespace tw {

/// K blocks [k_begin, k_end) of a cluster tile.
struct segment {
  int tile, k_begin, k_end;
};

/// The work of a launch, in cluster tiles of k_tiles K blocks each.
///   the first split_k_tiles   are cut along K into split_k_clusters parts, one for each cluster;
///                             their lengths differ by at most one K block. If the number of parts
///                             is a multiple of the number of tiles, each tile is cut by itself (a
///                             line is a tile). Otherwise the K blocks of all these tiles are one
///                             line, and a part may reach from a tile into the next one. The
///                             cluster that finishes a tile last adds its parts
///                             (kernel/sm90/fixup.hpp).
///   the others                are computed whole, in turn by all clusters.
/// Split-K is split_k_tiles == tiles, stream-K a last wave that is cut, and split_k_tiles == 0
/// neither.
/// The split-K tiles come first, so that their reduction overlaps the whole tiles.
/// Law: the segments of all clusters cover every block of every tile exactly once.
struct work_plan {
  int tiles, k_tiles;
  int split_k_tiles;     // that are cut; 0: none. split_k_tiles * k_tiles < 2^31
  int split_k_clusters;  // that take part in them, at most split_k_tiles * k_tiles
  int line;              // blocks of a line: those of a tile, or of all that are cut
  int parts;             // of a line
  int part;  // blocks of a part: line / parts; the first `longer` of a line have one more
  int longer;

  /// Cluster c's part. Where tiles have 4 parts and more, clusters beside each other have the same
  /// K blocks of tiles beside each other: they load the same rows at the same time. With fewer
  /// parts they are near each other anyway (docs/decisions/0022).
  TW_HD constexpr int part_of(int c) const {
    return line == k_tiles && parts >= 4 ? c % split_k_tiles * parts + c / split_k_tiles : c;
  }
  /// First block of part c, in all split-K tiles.
  TW_HD constexpr int part_begin(int c) const {
    int const i = c % parts;
    return c / parts * line + i * part + (i < longer ? i : longer);
  }
  /// The part that holds block x of all split-K tiles.
  TW_HD constexpr int part_at(int x) const {
    int const first = x / line * parts, of_longer = longer * (part + 1);
    x %= line;
    return first + (x < of_longer ? x / (part + 1) : longer + (x - of_longer) / part);
  }
  /// Maximum number of clusters that may work on one split-K tile.
  TW_HD constexpr int max_parts() const {
    return split_k_tiles == 0 ? 1 : line == k_tiles ? parts : (k_tiles - 1) / part + 2;
  }
  /// The first and last part of split-K tile t.
  TW_HD constexpr int first_part(int t) const { return part_at(t * k_tiles); }
  TW_HD constexpr int last_part(int t) const { return part_at((t + 1) * k_tiles - 1); }
};

/// split_k_tiles of the tiles are cut among split_k_clusters clusters.
TW_HD constexpr work_plan make_work_plan(int tiles, int k_tiles, int split_k_tiles,
                                         int split_k_clusters) {
  int const blocks = split_k_tiles * k_tiles;
  int const clusters = split_k_clusters > blocks ? blocks : split_k_clusters;
  if (clusters == 0) return {tiles, k_tiles, 0, 0, 0, 1, 1, 0};
  int const lines = clusters % split_k_tiles == 0 ? split_k_tiles : 1;
  int const line = blocks / lines, parts = clusters / lines;
  return {tiles, k_tiles, split_k_tiles, clusters, line, parts, line / parts, line % parts};
}

/// One cluster's segments, in order.
class work_list {
 public:
  TW_HD constexpr work_list(work_plan const& plan, int cluster)
      : whole_(plan.split_k_tiles + cluster) {
    if (plan.split_k_tiles == 0 || cluster >= plan.split_k_clusters) return;
    int const mine = plan.part_of(cluster);
    at_ = plan.part_begin(mine);
    end_ = plan.part_begin(mine + 1);
  }

  /// False at the end of the list.
  TW_HD constexpr bool next(work_plan const& plan, int clusters, segment& s) {
    if (at_ < end_) {
      int const tile = at_ / plan.k_tiles, first = tile * plan.k_tiles;
      int const last = first + plan.k_tiles < end_ ? first + plan.k_tiles : end_;
      s = {tile, at_ - first, last - first};
      at_ = last;
      return true;
    }
    if (whole_ >= plan.tiles) return false;
    s = {whole_, 0, plan.k_tiles};
    whole_ += clusters;
    return true;
  }
  TW_HD constexpr bool at_end(work_plan const& plan) const {
    return at_ >= end_ && whole_ >= plan.tiles;
  }

 private:
  int whole_;
  int at_ = 0, end_ = 0;
};

/// Tiles of a cluster in kernels that share none (plan.split_k_tiles == 0).
class whole_tiles {
 public:
  TW_HD constexpr whole_tiles(work_plan const&, int cluster) : next_(cluster) {}

  TW_HD constexpr bool next(work_plan const& plan, int clusters, segment& s) {
    if (at_end(plan)) return false;
    s = {next_, 0, plan.k_tiles};
    next_ += clusters;
    return true;
  }
  TW_HD constexpr bool at_end(work_plan const& plan) const { return next_ >= plan.tiles; }

 private:
  int next_;
};

/// As whole_tiles, from tile `first` on to the last one, then from tile 0.
class tiles_from {
 public:
  TW_HD constexpr tiles_from(work_plan const&, int cluster, int first)
      : next_(cluster),
        first_(first) {}

  TW_HD constexpr bool next(work_plan const& plan, int clusters, segment& s) {
    if (at_end(plan)) return false;
    int const tile = first_ + next_;
    s = {tile < plan.tiles ? tile : tile - plan.tiles, 0, plan.k_tiles};
    next_ += clusters;
    return true;
  }
  TW_HD constexpr bool at_end(work_plan const& plan) const { return next_ >= plan.tiles; }

 private:
  int next_, first_;
};

}  // namespace tw
