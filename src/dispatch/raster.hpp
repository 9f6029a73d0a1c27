// SPDX-License-Identifier: Apache-2.0
// raster.hpp  A plan's order of tiles: chosen by the footprint model, and as the kernel gets it.
#pragma once

#include "dispatch/footprint.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw {

/// The usual order (footprint.hpp) of configuration c's tiles of `q`, by `clusters` at a time.
tile_order usual_order_of(gemm_problem const& q, gemm_config const& c, int clusters,
                          device const& dev);

/// Sets plan.raster and plan.band to what the model chooses for plan.config, clusters and normal.
void choose_raster(gemm_plan& plan, device const& dev);

/// The plan's order over the cluster tiles of its normal problem. Throws `rejected` TW0424 for a
/// band that the order cannot have.
tile_order order_of(gemm_plan const& plan);

}  // namespace tw
