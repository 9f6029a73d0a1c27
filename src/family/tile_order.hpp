// SPDX-License-Identifier: Apache-2.0
// tile_order.hpp  A grid of tiles in the order that a plan's schedule names.
#pragma once

#include "tilewright/family/plan.hpp"

namespace tw {

/// `grid` in the schedule's order and bands. Throws `rejected` (TW0424) for a band that no order
/// has.
tile_order ordered(tile_order grid, plan_schedule const& s);

}  // namespace tw
