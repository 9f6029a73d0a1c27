// SPDX-License-Identifier: Apache-2.0
// tile_order.cpp  The order of a schedule, checked.
#include "family/tile_order.hpp"

#include <fmt/format.h>

#include <bit>

#include "family/footprint.hpp"
#include "tilewright/base/check.hpp"

namespace tw {

tile_order ordered(tile_order grid, plan_schedule const& s) {
  bool const power = std::has_single_bit(static_cast<unsigned>(s.band));
  if (s.band < 1 || s.band > 1 << 12 || (s.raster == order_kind::hilbert && !power))
    throw rejected(
        {"TW0424", "band of the tile order",
         fmt::format("{} in bands of {}", order_names[static_cast<int>(s.raster)], s.band),
         "1 to 4096 cluster tiles; a power of two for the Hilbert order", ""});
  grid.band = s.band;
  grid.kind = s.raster;
  // A band beyond the grid is the grid; no square fits into it.
  if (grid.band > grid.m_tiles) {
    grid.band = grid.m_tiles;
    if (grid.kind == order_kind::hilbert) grid.kind = order_kind::serpentine;
  }
  return grid;
}

void choose_tile_order(gemm_plan& plan, tile_order const& grid, tile_panels tile, int wave,
                       device const& dev) {
  gemm_problem const& q = plan.normal;
  double const k_bytes = static_cast<double>(q.k) * tile.elem_bits / 8;
  strips const panels{.row_bytes = tile.m * k_bytes,
                      .col_bytes = tile.n * k_bytes,
                      .shared_rows = q.a.batch_stride_elems == 0,
                      .shared_cols = q.b.batch_stride_elems == 0,
                      .wave = wave};
  tile_order const best = choose_order(grid, panels, tile.m, dev.model->tile_order);
  plan.schedule.raster = best.kind;
  plan.schedule.band = best.band;
}

}  // namespace tw
