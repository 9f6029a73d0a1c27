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
///   tiles 0 .. shared-1     are one line of shared * k_tiles blocks, cut into `sharers` parts that
///                           are equal to a block: part c is cluster c's. A tile that is cut is
///                           summed up by whoever finishes it last (kernel/fixup.hpp).
///   tiles shared .. tiles-1 are computed whole, in turn by all clusters.
/// Split-K is shared == tiles, stream-K a last wave that is shared, and shared == 0 neither.
/// The shared tiles come first, so that their sums hide behind the whole tiles.
/// Law: the segments of all clusters cover every block of every tile exactly once.
struct work_plan {
  int tiles, k_tiles;
  int shared;   // tiles that are cut; 0: none. shared * k_tiles < 2^31
  int sharers;  // clusters that take part in them, at most shared * k_tiles
  int part;     // blocks of a part: shared * k_tiles / sharers; the first `longer` have one more
  int longer;

  /// First block of part c of the line.
  TW_HD constexpr int part_begin(int c) const { return c * part + (c < longer ? c : longer); }
  /// The cluster whose part holds block x of the line.
  TW_HD constexpr int sharer_of(int x) const {
    int const of_longer = longer * (part + 1);
    return x < of_longer ? x / (part + 1) : longer + (x - of_longer) / part;
  }
  /// Clusters that may work on one shared tile, at most.
  TW_HD constexpr int most_parts() const { return shared == 0 ? 1 : (k_tiles - 1) / part + 2; }
  /// The first and last cluster that work on shared tile t.
  TW_HD constexpr int first_sharer(int t) const { return sharer_of(t * k_tiles); }
  TW_HD constexpr int last_sharer(int t) const { return sharer_of((t + 1) * k_tiles - 1); }
};

/// `shared` of the tiles are cut among `sharers` clusters.
TW_HD constexpr work_plan make_work_plan(int tiles, int k_tiles, int shared, int sharers) {
  int const blocks = shared * k_tiles;
  if (sharers > blocks) sharers = blocks;
  if (sharers == 0) return {tiles, k_tiles, 0, 0, 1, 0};
  return {tiles, k_tiles, shared, sharers, blocks / sharers, blocks % sharers};
}

/// One cluster's segments, in order.
class work_list {
 public:
  TW_HD constexpr work_list(work_plan const& plan, int cluster) : whole_(plan.shared + cluster) {
    if (plan.shared == 0 || cluster >= plan.sharers) return;
    at_ = plan.part_begin(cluster);
    end_ = plan.part_begin(cluster + 1);
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

/// The same for kernels that share no tiles (plan.shared == 0).
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

}  // namespace tw
