// SPDX-License-Identifier: Apache-2.0
// schedules.cpp  Whole tiles in full waves, or stream-K where that leaves SMs without work.
#include "family/sm90_gemm/schedules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/equal_groups.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/kernel/sm90/fixup_size.hpp"
#include "tilewright/pipeline/work.hpp"

namespace tw {

namespace {

/// Running numbers are ints. accept() limits D to 2^43 elements: the large tiles always fit.
constexpr std::int64_t most_tiles = std::int64_t{1} << 30;
constexpr int most_clusters = 1 << 20;  // of a schedule

/// Clusters that run at the same time: GPCs have 16 or 18 SMs, which larger clusters do not fill.
int resident_clusters(gemm_config const& c, device const& dev) {
  int const found = c.cluster() <= 2       ? dev.sm_count
                    : c.cluster() % 2 == 0 ? dev.sms_in_clusters_of_4
                                           : dev.sms_in_clusters_of_3;
  return std::max(1, found / c.cluster());
}

/// The most cluster tiles that a problem of groups can have.
std::int64_t most_tiles_of(gemm_problem const& q, gemm_config const& c) {
  auto const up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  int const rows = c.tile_m * c.cluster_m, cols = c.tile_n * c.cluster_n;
  switch (q.groups->axis) {
    case group_axis::m: return most_steps_of_groups(q, rows) * up(q.n, cols);
    case group_axis::n: return most_steps_of_groups(q, cols) * up(q.m, rows);
    default: return up(q.m, rows) * up(q.n, cols) * q.groups->count;
  }
}

}  // namespace

std::vector<int> tile_cols_of(gemm_config const& c, std::int64_t n) {
  if (!c.varies_tile_n()) return {0};
  auto const up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  std::vector<int> all;
  for (int cols = c.tile_n; cols >= c.min_tile_n; cols -= wgmma_n_step) {
    std::int64_t const of_cluster = std::int64_t{cols} * c.cluster_n;
    std::int64_t const tiles = up(n, of_cluster) * c.cluster_n;
    std::int64_t const steps = up(n, wgmma_n_step * tiles);
    auto const fewest = static_cast<int>(steps * wgmma_n_step);
    if (std::max(fewest, c.min_tile_n) == cols) all.push_back(cols);
  }
  return all;
}

std::vector<tile_split> tile_splits(gemm_problem const& q, gemm_config const& c,
                                    device const& dev) {
  auto const up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  std::int64_t const m_tiles = up(q.m, c.tile_m * c.cluster_m);
  std::int64_t const n_tiles = up(q.n, c.tile_n * c.cluster_n);
  std::int64_t const tiles = q.groups ? most_tiles_of(q, c) : m_tiles * n_tiles * q.batch;
  int const most = resident_clusters(c, dev);
  std::int64_t const k_tiles = up(q.k, c.tile_k());
  if (tiles > most_tiles) return {};
  int const n = static_cast<int>(tiles);
  if (q.groups) {  // the kernel alone has the number of their tiles
    gemm_problem const model = equal_groups(q);
    std::int64_t const of_model =
        up(model.m, c.tile_m * c.cluster_m) * up(model.n, c.tile_n * c.cluster_n) * model.batch;
    return {{static_cast<int>(of_model), std::min(n, most), 0, 0}};
  }
  // Whole tiles: the fewest clusters that need no more waves than all would (64 instead of 66
  // gain 1 % at 8192^3; docs/decisions/0005).
  std::vector<tile_split> all{{n, static_cast<int>(up(tiles, up(tiles, most))), 0, 0}};
  if (c.cluster_k > 1 && (tiles > most || k_tiles < least_part_blocks * c.cluster_k))
    return {};  // they are for a wave of tiles
  if (!c.shares_tiles()) return all;
  int const rest = n % most;
  for (int const shared : {n, rest}) {
    if (shared <= 0 || shared % most == 0) continue;
    if (shared == n && all.size() > 1) continue;  // listed already
    // Parts lose the neighbourhood of tiles that keeps operands in L2, which costs 5 to 20 % where
    // there is more than a wave. It does not matter where one operand is a single tile.
    if (n > most && std::min(m_tiles, n_tiles) > 1) continue;
    std::int64_t const blocks = shared * k_tiles;
    int const split_k_clusters =
        static_cast<int>(std::min<std::int64_t>(most, up(blocks, least_part_blocks)));
    if (split_k_clusters < most && split_k_clusters <= shared)
      continue;  // parts of a tile and more
    if (blocks >= std::int64_t{1} << 31) continue;
    auto const add = [&](int by) {
      all.push_back({n, std::max(by, n > shared ? most : 1), shared, by});
    };
    add(split_k_clusters);
    // Also try an even split (no part spans two tiles) and one that a single reduction step can
    // add.
    int const parts = split_k_clusters / shared,
              in_one_step = std::min(parts, fixup_group(c.tile_n));
    if (parts > 1 && parts * shared < split_k_clusters) add(parts * shared);
    if (in_one_step > 1 && in_one_step < parts) add(in_one_step * shared);
  }
  return all;
}

tile_split tile_split_of(gemm_plan const& plan) {
  auto const up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  gemm_config const c = launched(plan);
  gemm_problem const q = equal_groups(plan.normal);
  std::int64_t const tiles =
      up(q.m, c.tile_m * c.cluster_m) * up(q.n, c.tile_n * c.cluster_n) * q.batch;
  plan_schedule const& s = plan.schedule;
  return {static_cast<int>(tiles), s.clusters, s.split_k_tiles, s.split_k_clusters};
}

std::int64_t counter_bytes(gemm_problem const& q, gemm_config const& c, tile_split const& s) {
  if (s.split_k_tiles == 0) return 0;
  int const k_tiles = static_cast<int>((q.k + c.tile_k() - 1) / c.tile_k());
  int const parts =
      make_work_plan(s.tiles, k_tiles, s.split_k_tiles, s.split_k_clusters).max_parts();
  return std::int64_t{s.split_k_tiles} * c.writers() * fixup_counters(parts, c.tile_n) *
         static_cast<std::int64_t>(sizeof(std::uint32_t));
}

std::int64_t partials_bytes(gemm_plan const& plan) {
  gemm_config const& c = config_of(plan);
  if (plan.schedule.split_k_tiles == 0) return 0;
  return std::int64_t{2 * sum_bytes} * plan.schedule.split_k_clusters * c.cluster_m * c.cluster_n *
         c.tile_m * c.tile_n;
}

std::int64_t max_partials_bytes(int sm_count) {
  std::int64_t max_tile = 0;
  for (auto const& i : sm90_gemm_family::instances())
    max_tile = std::max(max_tile, std::int64_t{i.config.tile_m} * i.config.tile_n);
  return 2 * sum_bytes * sm_count * max_tile;
}

void check_schedule(gemm_plan const& plan, gemm_problem const& q) {
  gemm_config const& c = config_of(plan);
  plan_schedule const& s = plan.schedule;
  if (c.varies_tile_n() &&
      (s.tile_cols < c.min_tile_n || s.tile_cols > c.tile_n || s.tile_cols % wgmma_n_step != 0))
    throw rejected(
        {"TW0427", "columns of the tiles", fmt::format("{}", s.tile_cols),
         fmt::format("a multiple of {} from {} to {}", wgmma_n_step, c.min_tile_n, c.tile_n),
         "take the plan as plan_candidates() gives it"});
  tile_split const tiles = tile_split_of(plan);
  bool const split = s.split_k_tiles > 0;
  if (s.clusters < 1 || s.clusters > most_clusters || s.split_k_tiles < 0 ||
      s.split_k_tiles > tiles.tiles || s.split_k_clusters < (split ? 1 : 0) ||
      s.split_k_clusters > most_clusters)
    throw rejected(
        {"TW0427", "clusters and split-K tiles",
         fmt::format("{} clusters; {} of {} tiles split along K among {}", s.clusters,
                     s.split_k_tiles, tiles.tiles, s.split_k_clusters),
         fmt::format("1 to {} clusters, and no more split tiles than tiles", most_clusters),
         "take the plan as plan_candidates() gives it"});
  if (split && !c.shares_tiles())
    throw rejected(
        {"TW0426", "split-K tiles", fmt::format("{} of {}", s.split_k_tiles, plan.kernel),
         "a cooperative kernel with one fragment per warpgroup, of 128 columns or fewer that no "
         "launch chooses, in clusters of at most two that do not share K",
         "set split_k_tiles to 0, or take another plan of plan_candidates()"});
  std::int64_t const bytes = counter_bytes(q, c, tile_split_of(plan));
  if (bytes > gemm_workspace_zeros)
    throw rejected({"TW0436", "counters of split-K tiles",
                    fmt::format("{} bytes for {} tiles split along K among {} clusters", bytes,
                                s.split_k_tiles, s.split_k_clusters),
                    fmt::format("at most {} bytes, the part of the workspace that is zero",
                                gemm_workspace_zeros),
                    "share fewer tiles, or take the plan as plan_candidates() gives it"});
}

}  // namespace tw
