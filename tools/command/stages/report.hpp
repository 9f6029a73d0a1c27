// SPDX-License-Identifier: Apache-2.0
// report.hpp  Runs with recorded stages as a table, JSON and a Chrome trace.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/command/stages/run.hpp"

namespace tw::stages {

/// One stage of a run: events of all roles.
struct stage_figures {
  std::int64_t count = 0;
  double mean = 0, least = 0, most = 0;  // cycles of an event
  double of_role = 0;  // cycles of all its events in a role that has it, on average
  double share = 0;    // of the cycles of all stages of these roles
};
stage_figures figures_of(run const& r, kernel_stage stage);

std::string report_text(std::vector<run> const& runs);
nlohmann::ordered_json report_json(std::vector<run> const& runs);

/// All runs in one trace, side by side; 1 us is 1 cycle. A run of the emulator has its timeline
/// too.
std::string chrome_trace(std::vector<run> const& runs);

}  // namespace tw::stages
