// SPDX-License-Identifier: Apache-2.0
// group_table.hpp  The tiles of groups whose sizes are in device memory: a warp makes a table of
//                  them in shared memory, and each role walks it.
//
// A size is the array's if that is possible, else the nearest possible one: a group begins with the
// end of the group before, ends at or after that, and no later than the total; a slot has at most
// all of its rows; numbers of a contiguous K are multiples of 16 bytes. Whatever the array holds,
// no kernel touches memory of other operands.
#pragma once

#include <cstdint>

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/divisor.hpp"
#include "tilewright/pipeline/work.hpp"
#include "tilewright/problem/groups.hpp"

namespace tw {

/// The number nearest to x in [lo, hi].
TW_HD constexpr int clamped(std::int64_t x, int lo, int hi) {
  return x < lo ? lo : x > hi ? hi : static_cast<int>(x);
}

/// The array of sizes, as a kernel reads it.
struct group_sizes {
  void const* array;      // group_desc::numbers() integers
  std::uint32_t* status;  // nullptr, or: 1 + the first group (rows: row) with an impossible number
  int groups;
  group_form form;
  bool wide;  // 64-bit integers, else 32
  int total;  // rows of all groups, or of a slot: the largest number of other forms than rows
  int step;   // a power of two of which all numbers are multiples

  TW_HD std::int64_t number(int i) const {
    return wide ? static_cast<std::int64_t const*>(array)[i]
                : static_cast<std::int32_t const*>(array)[i];
  }
  /// The largest possible number up to x; 0 if x is negative.
  TW_HD int possible(std::int64_t x) const { return clamped(x, 0, total) & -step; }
};

/// Groups of a kernel, in shared memory. An entry for each group; of the form `rows` for each run
/// of rows of a group or of none, which begins at the first multiple of 128 after the run before.
struct group_table {
  int end[max_groups + 1];         // group g is [end[g], end[g + 1]); slot g has end[g + 1] rows
  int first_tile[max_groups + 1];  // of group g among the cluster tiles of all; the last: all tiles

  TW_HD int begin_of(group_sizes const& p, int g) const {
    return p.form == group_form::counts ? 0
           : p.form == group_form::rows ? (end[g] + group_alignment - 1) & -group_alignment
                                        : end[g];
  }
  TW_HD int size_of(group_sizes const& p, int g) const { return end[g + 1] - begin_of(p, g); }
  /// Entries; of the form `rows` all that fit.
  TW_HD int entries(group_sizes const& p) const {
    return p.form == group_form::rows ? max_groups : p.groups;
  }
  TW_HD int tiles(group_sizes const& p) const { return first_tile[entries(p)]; }
};

static_assert(sizeof(group_table) == group_table_bytes);

/// The sum of x of the lanes up to this one.
TW_DEVICE int sum_up_to_lane(int x) {
  TW_UNROLL
  for (int d = 1; d < warp_threads; d *= 2) {
    int const other = shuffle_up(x, d);
    if (lane_id() >= d) x += other;
  }
  return x;
}

/// A warp fills the table from the groups of rows. Each lane looks at 128 rows: the first one says
/// which group, and a binary search finds its last one.
TW_DEVICE void fill_table_of_rows(group_sizes const& p, int rows, int across, bool reports,
                                  group_table& t) {
  constexpr int block = group_alignment;
  int const lane = lane_id();
  int entries = 0, last_group = -2, last_end = 0;  // of the blocks before
  int first_bad = p.total;
  for (int left = p.total; left > 0; left -= warp_threads * block) {
    int const first = left <= lane * block ? p.total : p.total - left + lane * block;
    int const length = p.total - first < block ? p.total - first : block;
    bool const here = length > 0;
    std::int64_t const number = here ? p.number(first) : -1;
    bool const in = number >= 0 && number < p.groups;
    int last = 0;
    TW_UNROLL
    for (int step = block / 2; step > 0; step /= 2)
      if (in && last + step < length && p.number(first + last + step) == number) last += step;
    bool const next_is_bad = in && last + 1 < length && p.number(first + last + 1) != -1;
    int const bad = here && !in && number != -1 ? first : next_is_bad ? first + last + 1 : p.total;
    int const group = in ? static_cast<int>(number) : -1;
    int const end = first + (in ? last + 1 : length);
    int const group_of_left = shuffle_up(group, 1), end_of_left = shuffle_up(end, 1);
    int const left_group = lane == 0 ? last_group : group_of_left;
    int const left_end = lane == 0 ? last_end : end_of_left;
    bool const begins = here && (group != left_group || left_end != first);
    int const begun = sum_up_to_lane(begins ? 1 : 0), entry = entries + begun - 1;
    if (begins && entry <= max_groups) t.end[entry] = left_end;
    // An entry that does not fit ends the groups.
    int const bad_here = redux_min(entry < max_groups              ? bad
                                   : begins && entry == max_groups ? first
                                                                   : p.total);
    if (bad_here < first_bad) first_bad = bad_here;
    entries += shuffle(begun, warp_threads - 1);
    int const last_lane = left > warp_threads * block ? warp_threads - 1 : (left - 1) / block;
    last_group = shuffle(group, last_lane), last_end = shuffle(end, last_lane);
  }
  if (entries <= max_groups && lane == 0) t.end[entries] = last_end;
  if (entries > max_groups) entries = max_groups;
  if (lane == 0) t.first_tile[0] = 0;
  warp_sync();  // t.end is another lane's
  int tiles = 0;
  for (int round = 0; round < max_groups; round += warp_threads) {
    int const e = round + lane;
    int sum = 0;
    if (round < entries) {
      int const begin = e < entries ? t.begin_of(p, e) : p.total;
      std::int64_t const number = begin < p.total ? p.number(begin) : -1;
      if (number >= 0 && number < p.groups) sum = (t.end[e + 1] - begin + rows - 1) / rows * across;
      sum = sum_up_to_lane(sum);
    }
    t.first_tile[e + 1] = tiles + sum;
    if (round < entries) tiles += shuffle(sum, warp_threads - 1);
  }
  if (reports && p.status != nullptr && lane == 0 && first_bad != p.total)
    red_max(p.status, static_cast<std::uint32_t>(1 + first_bad));
}

/// A warp fills the table. A group of `size` rows has ceil(size / rows) * across cluster tiles.
/// `reports`: it writes the status too.
TW_DEVICE void fill_group_table(group_sizes const& p, int rows, int across, bool reports,
                                group_table& t) {
  if (p.form == group_form::rows) return fill_table_of_rows(p, rows, across, reports, t);
  int const lane = lane_id();
  bool const slots = p.form == group_form::counts, sizes = p.form == group_form::sizes;
  int const offset = p.form == group_form::starts ? 1 : 0;
  std::int64_t const first_number = offset == 1 ? p.number(0) : 0;
  int before = p.possible(first_number);  // the end of the last group of the round before
  int tiles = 0;
  int first_bad = before == first_number ? p.groups : 0;
  if (lane == 0) t.end[0] = before, t.first_tile[0] = 0;
  for (int round = 0; round < p.groups; round += warp_threads) {
    int const g = round + lane;
    bool const here = g < p.groups;
    std::int64_t const number = here ? p.number(g + offset) : 0;
    int end = p.possible(number);
    // Inclusive scans: the sum of sizes, or the largest end. A sum of two is below 2^32.
    TW_UNROLL
    for (int d = 1; d < warp_threads; d *= 2) {
      int const other = shuffle_up(end, d);
      if (slots || lane < d) continue;
      unsigned const sum = static_cast<unsigned>(end) + static_cast<unsigned>(other);
      unsigned const largest =
          end > other ? static_cast<unsigned>(end) : static_cast<unsigned>(other);
      unsigned const both = sizes ? sum : largest;
      end = both > static_cast<unsigned>(p.total) ? p.total : static_cast<int>(both);
    }
    if (sizes)
      end = end > p.total - before ? p.total : before + end;
    else if (!slots)
      end = end > before ? end : before;
    int const left = shuffle_up(end, 1);
    int const begin = slots ? 0 : lane == 0 ? before : left;
    int const size = end - begin;
    bool const bad = here && number != (sizes ? size : end);
    int const bad_here = redux_min(bad ? g : p.groups);
    if (bad_here < first_bad) first_bad = bad_here;
    int const sum = sum_up_to_lane(here ? (size + rows - 1) / rows * across : 0);
    if (here) t.end[g + 1] = end, t.first_tile[g + 1] = tiles + sum;
    tiles += shuffle(sum, warp_threads - 1);
    before = shuffle(end, warp_threads - 1);
  }
  if (reports && p.status != nullptr && lane == 0 && first_bad != p.groups)
    red_max(p.status, static_cast<std::uint32_t>(1 + first_bad));
}

/// K blocks [k_begin, k_end) of cluster tile `tile` of a group.
struct group_segment : segment {
  int group = 0;
  int begin = 0, size = 0;  // its first row, or k, and how many; of a slot `begin` is 0
};

/// The cluster tiles of all groups, in order, of a cluster: one of `clusters`.
class group_tiles {
 public:
  TW_HD group_tiles(group_table const& t, group_sizes const& p, int cluster)
      : t_(t),
        p_(p),
        next_(cluster) {}
  TW_HD bool next(work_plan const& plan, int clusters, group_segment& s) {
    if (at_end(plan)) return false;
    if (t_.first_tile[g_ + 1] <= next_) {  // the last group whose first tile is not beyond
      int lo = g_ + 1, hi = t_.entries(p_);
      while (hi - lo > 1) {
        int const middle = (lo + hi) / 2;
        (t_.first_tile[middle] <= next_ ? lo : hi) = middle;
      }
      g_ = lo;
    }
    s.tile = next_ - t_.first_tile[g_];
    s.k_begin = 0, s.k_end = plan.k_tiles;
    s.begin = t_.begin_of(p_, g_), s.size = t_.size_of(p_, g_);
    s.group = p_.form == group_form::rows ? static_cast<int>(p_.number(s.begin)) : g_;
    next_ += clusters;
    return true;
  }
  TW_HD bool at_end(work_plan const&) const { return next_ >= t_.tiles(p_); }

 private:
  group_table const& t_;
  group_sizes const& p_;
  int next_, g_ = 0;
};

/// Whole tiles of a D for each group, whose K the groups divide. An empty group has tiles of zeros.
class group_blocks {
 public:
  TW_HD group_blocks(group_table const& t, group_sizes const& p, int block, divisor tiles_of_group,
                     int cluster)
      : t_(t),
        p_(p),
        block_(block),
        tiles_of_group_(tiles_of_group),
        next_(cluster) {}
  TW_HD bool next(work_plan const& plan, int clusters, group_segment& s) {
    if (at_end(plan)) return false;
    int const g = tiles_of_group_(next_);
    s.tile = next_;
    s.group = g, s.begin = t_.begin_of(p_, g), s.size = t_.size_of(p_, g);
    s.k_begin = 0, s.k_end = (s.size + block_ - 1) / block_;
    next_ += clusters;
    return true;
  }
  TW_HD bool at_end(work_plan const& plan) const { return next_ >= plan.tiles; }

 private:
  group_table const& t_;
  group_sizes const& p_;
  int block_;
  divisor tiles_of_group_;
  int next_;
};

}  // namespace tw
