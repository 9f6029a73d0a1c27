// SPDX-License-Identifier: Apache-2.0
// plan_answer.hpp  All plans for a problem, and the times of GEMMs that it is compared with.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/report/plan_report.hpp"

namespace tw {

using plans_of_problem = std::function<std::vector<gemm_plan>(gemm_problem const&)>;

/// The plans, the best one first, and what the same GEMM would take with sums that are never
/// promoted, in any order, or of bf16. Throws as `plans_for` does for `p` itself.
plan_answer answer_of(gemm_problem const& p, std::string layout, std::string epilogue,
                      device const& dev, std::int64_t workspace_bytes,
                      plans_of_problem const& plans_for);

/// "TN" and "bias_gelu" of a problem, as `tilewright plan` has them.
std::string layout_word(gemm_problem const& p);
std::string epilogue_word_of(gemm_problem const& p);

}  // namespace tw
