// SPDX-License-Identifier: Apache-2.0
// raster.cpp  Strips of operands by the plan's tile, and the grid of its tiles.
#include "dispatch/raster.hpp"

#include <fmt/format.h>

#include <bit>

#include "dispatch/footprint.hpp"

namespace tw {

namespace {

tile_order grid_of(gemm_plan const& plan) {
  gemm_problem const& q = plan.normal;
  gemm_config const& c = plan.config;
  auto const tiles = [](std::int64_t extent, int tile) {
    return static_cast<int>((extent + tile - 1) / tile);
  };
  return {.m_tiles = tiles(q.m, c.tile_m * c.cluster_m),
          .n_tiles = tiles(q.n, c.tile_n * c.cluster_n),
          .band = plan.band,
          .batch = static_cast<int>(q.batch),
          .kind = plan.raster};
}

}  // namespace

void choose_raster(gemm_plan& plan) {
  gemm_problem const& q = plan.normal;
  gemm_config const& c = plan.config;
  double const k_bytes = static_cast<double>(q.k) * size_bytes(c.ab);
  int const tile_rows = c.tile_m * c.cluster_m;
  strips const s{tile_rows * k_bytes,
                 c.tile_n * c.cluster_n * k_bytes,
                 q.a.batch_stride_elems == 0,
                 q.b.batch_stride_elems == 0,
                 plan.clusters,
                 !c.d_m,
                 c.cluster_m * c.cluster_n > 1};
  tile_order const best = choose_order(grid_of(plan), s, tile_rows);
  plan.raster = best.kind;
  plan.band = best.band;
}

tile_order order_of(gemm_plan const& plan) {
  bool const power = std::has_single_bit(static_cast<unsigned>(plan.band));
  if (plan.band < 1 || plan.band > 1 << 12 || (plan.raster == order_kind::hilbert && !power))
    throw rejected(
        {"TW0424", "band of the tile order",
         fmt::format("{} in bands of {}", order_names[static_cast<int>(plan.raster)], plan.band),
         "1 to 4096 cluster tiles; a power of two for the Hilbert order", ""});
  tile_order o = grid_of(plan);
  // A band beyond the grid is the grid; no square fits into it.
  if (o.band > o.m_tiles) {
    o.band = o.m_tiles;
    if (o.kind == order_kind::hilbert) o.kind = order_kind::serpentine;
  }
  return o;
}

}  // namespace tw
