// SPDX-License-Identifier: Apache-2.0
// raster.cpp  Panels of operands by the plan's tile, and the grid of its tiles.
#include "family/sm90_gemm/raster.hpp"

#include <algorithm>

#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/equal_groups.hpp"
#include "family/tile_order.hpp"

namespace tw {

namespace {

tile_order grid_of(gemm_problem const& q, gemm_config const& c) {
  auto const tiles = [](std::int64_t extent, int tile) {
    return static_cast<int>((extent + tile - 1) / tile);
  };
  return {.m_tiles = tiles(q.m, c.tile_m * c.cluster_m),
          .n_tiles = tiles(q.n, c.tile_n * c.cluster_n),
          .band = 1,
          .batch = static_cast<int>(q.d_matrices())};
}

strips strips_of(gemm_problem const& q, gemm_config const& c, int clusters) {
  double const k_bytes = static_cast<double>(q.k) * size_bytes(c.a.stored);
  return {c.tile_m * c.cluster_m * k_bytes,
          c.tile_n * c.cluster_n * k_bytes,
          q.a.batch_stride_elems == 0,
          q.b.batch_stride_elems == 0,
          clusters,
          !c.d_m,
          c.cluster_m * c.cluster_n > 1};
}

}  // namespace

tile_order usual_order_of(gemm_problem const& q, gemm_config const& c, int clusters,
                          device const& dev) {
  return usual_order(grid_of(q, c), strips_of(q, c, clusters), c.tile_m * c.cluster_m,
                     dev.model->tile_order);
}

void choose_raster(gemm_plan& plan, device const& dev) {
  gemm_config const c = launched(plan);
  if (plan.normal.groups && plan.normal.groups->axis != group_axis::k) {
    // Along the ragged extent, in bands of about 2048 rows or columns (docs/decisions/0019).
    int const step = c.ragged == group_axis::n ? c.tile_n * c.cluster_n : c.tile_m * c.cluster_m;
    plan.schedule.raster = order_kind::grouped;
    plan.schedule.band = std::max(1, 2048 / step);
    return;
  }
  gemm_problem const q = equal_groups(plan.normal);
  tile_order const best = choose_order(grid_of(q, c), strips_of(q, c, plan.schedule.clusters),
                                       c.tile_m * c.cluster_m, dev.model->tile_order);
  plan.schedule.raster = best.kind;
  plan.schedule.band = best.band;
}

tile_order order_of(gemm_plan const& plan) {
  return ordered(grid_of(plan.normal, launched(plan)), plan.schedule);
}

}  // namespace tw
