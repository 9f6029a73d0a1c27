// SPDX-License-Identifier: Apache-2.0
// report.hpp  The figures of a profile with their interpretation.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/command/profile/ncu_csv.hpp"

namespace tw::profile {

std::string report_text(std::vector<launch> const& launches);
nlohmann::ordered_json report_json(std::vector<launch> const& launches);

/// The table of metrics.
std::string list_text();
nlohmann::ordered_json list_json();

}  // namespace tw::profile
