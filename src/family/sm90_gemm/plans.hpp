// SPDX-License-Identifier: Apache-2.0
// plans.hpp  The plans of a kernel: one for each schedule, the predicted time of a plan with the
//            copies before it, and what only a chosen plan needs.
#pragma once

#include <string>
#include <vector>

#include "family/sm90_gemm/cost.hpp"
#include "tilewright/family/plan.hpp"

namespace tw {

/// gemm_family::add_plans for the kernel of `plan`: a plan for each schedule. A schedule with
/// split-K tiles is a choice; copies may not be one: ranked() of dispatch/plan/plan.cpp decides.
void add_schedules(gemm_plan plan, device const& dev, std::int64_t workspace_bytes,
                   std::vector<gemm_plan>& plans);

cost cost_of(gemm_plan const& plan, device const& dev);

/// gemm_family::finish. ctas: of the launch.
void finish_plan(gemm_plan& plan, int ctas, device const& dev);

/// "66 clusters, 16 tiles split along K among 66".
std::string schedule_text(plan_schedule const& s);

}  // namespace tw
