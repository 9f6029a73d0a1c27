// SPDX-License-Identifier: Apache-2.0
// group_table_test.cpp  The table that a warp makes of the numbers in memory has the tiles of the
//                       groups that the host finds in the same numbers, possible or not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "tests/effort.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm90/scheduler.hpp"
#include "tilewright/pipeline/group_table.hpp"
#include "tilewright/problem/group_slices.hpp"

namespace tw::test {
namespace {

constexpr int tile_rows = 192, across = 3, clusters = 5;

/// (group, begin, size, tile) of each cluster tile.
using tile_list = std::vector<std::array<int, 4>>;

struct table_probe {
  struct params {
    group_sizes sizes;
    tile_list* tiles;  // of each of the clusters
  };
  static constexpr int threads = warp_threads, cluster = 1;
  struct smem {
    group_table table;
  };
  static constexpr int smem_bytes = sizeof(smem);

  static void run(params const& p) {
    group_table& t = dynamic_smem<smem>().table;
    fill_group_table(p.sizes, tile_rows, across, cta_id() == 0, t);
    warp_sync();
    if (lane_id() != 0) return;
    group_tiles work(t, p.sizes, cta_id());
    work_plan plan{};
    for (group_segment s{}; work.next(plan, clusters, s);)
      p.tiles[cta_id()].push_back({s.group, s.begin, s.size, s.tile});
  }
};

tile_list tiles_of(group_ranges const& groups) {
  tile_list all;
  for (group_range const& r : groups.of)
    for (std::int64_t i = 0; i < (r.size + tile_rows - 1) / tile_rows * across; ++i)
      all.push_back({static_cast<int>(r.group), static_cast<int>(r.begin), static_cast<int>(r.size),
                     static_cast<int>(i)});
  return all;
}

void expect_tiles(group_desc const& g, std::int64_t total, std::vector<std::int64_t> const& wide,
                  std::uint64_t seed) {
  std::vector<std::int32_t> const narrow(wide.begin(), wide.end());
  void const* const array = g.index_bits == 64 ? static_cast<void const*>(wide.data())
                                               : static_cast<void const*>(narrow.data());
  gemm_problem p;
  p.m = total, p.n = p.k = 8;
  p.groups = g;
  std::uint32_t status = 0;
  tile_list tiles[clusters];
  table_probe::params const params{{array, &status, static_cast<int>(g.count), g.form,
                                    g.index_bits == 64, static_cast<int>(total), 1},
                                   tiles};
  emu::options o;
  o.seed = seed;
  emu::run(table_probe{}, clusters, params, o);
  group_ranges const want = ranges_of_groups(p, array);
  tile_list const all = tiles_of(want);
  tile_list got;
  for (std::size_t i = 0; i < all.size(); ++i) {
    tile_list const& of = tiles[i % clusters];
    if (i / clusters < of.size()) got.push_back(of[i / clusters]);
  }
  std::size_t count = 0;
  for (tile_list const& of : tiles) count += of.size();
  EXPECT_EQ(count, all.size());
  EXPECT_EQ(got, all) << "form " << group_form_names[static_cast<int>(g.form)] << ", " << g.count
                      << " groups, " << total << " rows, seed " << seed;
  EXPECT_EQ(status, static_cast<std::uint32_t>(1 + want.first_bad.value_or(-1)));
}

TEST(GroupTable, HasTheTilesOfTheGroups) {
  std::mt19937_64 rng(20261207);
  auto const any = [&](std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  std::set<group_form> possible, impossible;
  for (int i = 0; i < sample(600, 150) && !HasFailure(); ++i) {
    group_desc g;
    g.form = static_cast<group_form>(i % 5);
    g.count = any(0, 3) == 0 ? any(33, 100) : any(1, 9);
    g.index_bits = any(0, 1) != 0 ? 32 : 64;
    std::vector<std::int64_t> numbers;
    std::int64_t total = 0;
    if (g.form == group_form::rows) {
      int const runs = static_cast<int>(any(1, 60));
      for (int r = 0; r < runs; ++r) {
        numbers.insert(numbers.end(), static_cast<std::size_t>(any(1, any(0, 2) != 0 ? 300 : 128)),
                       any(0, 5) == 0 ? -1 : any(0, g.count - 1));
        while (numbers.size() % group_alignment != 0) numbers.push_back(-1);
      }
      if (any(0, 2) == 0) numbers.resize(numbers.size() - static_cast<std::size_t>(any(0, 100)));
      total = static_cast<std::int64_t>(numbers.size());
    } else {
      if (g.form == group_form::starts) numbers.push_back(total = any(0, 9));
      for (std::int64_t x = 0; x < g.count; ++x) {
        std::int64_t const size = any(0, 2) == 0 ? 0 : any(1, 400);
        total += size;
        numbers.push_back(g.slots() || g.form == group_form::sizes ? size : total);
      }
      total = g.slots() ? 400 : std::max<std::int64_t>(1, total + any(0, 9));
    }
    bool const bad = i % 3 == 0;
    for (int x = 0; bad && x < 3; ++x)
      numbers[rng() % numbers.size()] = std::array<std::int64_t, 5>{
          -1, -5, total + 1, std::numeric_limits<std::int32_t>::max(), 0}[rng() % 5];
    expect_tiles(g, total, numbers, rng());
    (bad ? impossible : possible).insert(g.form);
  }
  EXPECT_EQ(possible.size(), 5U);
  EXPECT_EQ(impossible.size(), 5U);
}

/// The tiles of groups of rows, or of columns, of clusters of 2x1 CTAs of 128x64 each.
template <group_axis Axis>
struct tile_probe {
  static constexpr gemm_config config{.tile_n = 64, .cluster_m = 2, .ragged = Axis};
  using scheduler = group_scheduler<config>;
  struct params {
    gemm_params of_gemm;
    std::vector<group_tile>* tiles;  // of each CTA
  };
  static constexpr int threads = warp_threads, cluster = config.cluster();
  struct smem {
    group_table table;
  };
  static constexpr int smem_bytes = sizeof(smem);

  static void run(params const& p) {
    group_table& t = dynamic_smem<smem>().table;
    scheduler::prepare(p.of_gemm, t);
    warp_sync();
    if (lane_id() != 0) return;
    group_tiles work = scheduler::work_of(p.of_gemm, t);
    for (group_segment s{}; work.next(p.of_gemm.work, scheduler::clusters(), s);)
      p.tiles[cta_id()].push_back(scheduler::tile_of(p.of_gemm, s));
  }
};

/// Each element of D of a group lies in one tile, of its group, and no other element in any.
template <group_axis Axis>
void expect_partition(std::mt19937_64& rng) {
  using probe = tile_probe<Axis>;
  constexpr bool of_m = Axis == group_axis::m;
  auto const any = [&](int lo, int hi) {
    return lo + static_cast<int>(rng() % static_cast<std::uint64_t>(hi - lo + 1));
  };
  gemm_problem p;
  p.k = 8;
  p.groups = group_desc{.axis = Axis, .form = group_form::sizes, .count = any(1, 40)};
  std::vector<std::int32_t> sizes;
  for (std::int64_t g = 0; g < p.groups->count; ++g)
    sizes.push_back(any(0, 2) == 0 ? 0 : any(1, any(0, 1) != 0 ? 70 : 700));
  int const total = std::accumulate(sizes.begin(), sizes.end(), any(0, 9)), other = any(1, 600);
  p.m = of_m ? total : other, p.n = of_m ? other : total;
  p.a.ord = order::row_major, p.b.ord = order::col_major;  // groups of any size
  auto const tiles_of = [](int extent, int tile) { return (extent + tile - 1) / tile; };
  constexpr int ctas = 6;
  std::vector<group_tile> tiles[ctas];
  gemm_params q{};
  q.m = static_cast<int>(p.m), q.n = static_cast<int>(p.n);
  q.group.sizes = {sizes.data(), nullptr, static_cast<int>(sizes.size()), group_form::sizes, false,
                   total,        1};
  q.group.across = of_m ? tiles_of(other, 64) : tiles_of(other, 256);
  q.group.band = 1 << any(0, 4);
  emu::options o;
  o.seed = rng();
  emu::run(probe{}, ctas, typename probe::params{q, tiles}, o);
  std::vector<int> covered(static_cast<std::size_t>(p.m * p.n), 0);
  group_ranges const ranges = ranges_of_groups(p, sizes.data());
  for (std::vector<group_tile> const& of : tiles)
    for (group_tile const& t : of) {
      group_range const& r = ranges.of[static_cast<std::size_t>(t.matrix)];
      ASSERT_EQ(t.begin, r.begin);
      ASSERT_EQ(t.size, r.size);
      int const rows = std::min(128, (of_m ? t.size : other) - t.row),
                cols = std::min(64, (of_m ? other : t.size) - t.col);
      for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
          ++covered[static_cast<std::size_t>((t.row + row + (of_m ? t.begin : 0)) * p.n + t.col +
                                             col + (of_m ? 0 : t.begin))];
    }
  std::int64_t const used = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  for (std::int64_t row = 0; row < p.m; ++row)
    for (std::int64_t col = 0; col < p.n; ++col)
      ASSERT_EQ(covered[static_cast<std::size_t>(row * p.n + col)],
                (of_m ? row : col) < used ? 1 : 0)
          << "D(" << row << ", " << col << "), band " << q.group.band;
}

TEST(GroupTiles, PartitionD) {
  std::mt19937_64 rng(20261214);
  for (int i = 0; i < sample(80, 12) && !HasFailure(); ++i) {
    expect_partition<group_axis::m>(rng);
    expect_partition<group_axis::n>(rng);
  }
}

/// The table has room for 1,024 runs of rows; those after them are not computed.
TEST(GroupTable, MoreRunsThanItHasEntries) {
  for (int const runs : {1023, 1024, 1025, 1060}) {
    std::vector<std::int64_t> numbers;
    for (int r = 0; r < runs; ++r)
      numbers.insert(numbers.end(), group_alignment, r % 3 == 2 ? -1 : r % 3);
    group_desc const g{.form = group_form::rows, .count = 2};
    expect_tiles(g, static_cast<std::int64_t>(numbers.size()), numbers, 1);
  }
}

}  // namespace
}  // namespace tw::test
