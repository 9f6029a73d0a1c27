// SPDX-License-Identifier: Apache-2.0
// tiles.hpp  `tilewright ladder --tiles`: the order in which a rung computes the tiles of D.
#pragma once

#include <string>

#include "tilewright/base/check.hpp"
#include "tilewright/pipeline/order.hpp"
#include "tools/command/ladder/request.hpp"

namespace ladder {

/// A grid of the tiles with their numbers in the order, and a line from each to the next.
std::string svg_of(tw::tile_order const& order, std::string const& title);

tw::exit_status draw_tiles(request const& r);

}  // namespace ladder
