// SPDX-License-Identifier: Apache-2.0
// raster.hpp  A plan's order of tiles: chosen by the footprint model, and as the kernel gets it.
#pragma once

#include "family/footprint.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/family/plan.hpp"
#include "tilewright/kernel/sm90/config.hpp"

namespace tw {

/// The usual order (footprint.hpp) of configuration c's tiles of `q`, by `clusters` at a time.
tile_order usual_order_of(gemm_problem const& q, gemm_config const& c, int clusters,
                          device const& dev);

/// Sets the raster order and band of the schedule to what the model chooses for the plan.
void choose_raster(gemm_plan& plan, device const& dev);

/// The plan's order over the cluster tiles of its normal problem. Throws `rejected` TW0424 for a
/// band that the order cannot have.
tile_order order_of(gemm_plan const& plan);

}  // namespace tw
