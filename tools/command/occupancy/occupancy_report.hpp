// SPDX-License-Identifier: Apache-2.0
// occupancy_report.hpp  The answer of `tilewright occupancy` as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/command/occupancy/occupancy_request.hpp"

namespace tw {

std::string occupancy_text(occupancy_answer const& a);
nlohmann::ordered_json occupancy_json(occupancy_answer const& a);

}  // namespace tw
