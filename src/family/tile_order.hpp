// SPDX-License-Identifier: Apache-2.0
// tile_order.hpp  A grid of tiles in the order that a plan's schedule names.
#pragma once

#include "tilewright/device/device.hpp"
#include "tilewright/family/plan.hpp"

namespace tw {

/// `grid` in the schedule's order and bands. Throws `rejected` (TW0424) for a band that no order
/// has.
tile_order ordered(tile_order grid, plan_schedule const& s);

/// A tile, for the choice of an order.
struct tile_panels {
  int m, n;       // of a cluster
  int elem_bits;  // of A and B, as stored
};

/// Sets the order of the tiles of `grid` that costs least to read (footprint.hpp), and its bands.
/// wave: tiles that run at the same time.
void choose_tile_order(gemm_plan& plan, tile_order const& grid, tile_panels tile, int wave,
                       device const& dev);

}  // namespace tw
