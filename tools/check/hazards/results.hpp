// SPDX-License-Identifier: Apache-2.0
// results.hpp  Findings of the runs of kernels, as text with the checklist, and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "tools/check/hazards/finding.hpp"

namespace tw::hazards {

struct request;

/// For each kernel: its runs, its checklist, and how to repeat the first run of each finding of the
/// check that r requested.
std::string text_of_kernels(std::span<kernel_result const> results, request const& r);

/// {"kernels": [{"name", "runs", "runs_of_two_launches", "left_out_runs", "bad_runs",
/// "wrong_elements", "elements", "plain_accesses_seen", "findings": [...],
/// "checklist": [{"line", "state", "detail"}, ...]}, ...]}
nlohmann::ordered_json json_of_kernels(std::span<kernel_result const> results);

/// A table: a line per kernel with its runs, CTAs, elements compared, and runs that were reported.
std::string table_of(std::span<kernel_result const> results);

/// Many kernels of one family as one: the sums, and one checklist.
kernel_result merged(std::span<kernel_result const> results, std::string name);

}  // namespace tw::hazards
