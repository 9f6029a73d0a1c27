// SPDX-License-Identifier: Apache-2.0
// group_report.hpp  A plan over several GPUs as JSON ("tilewright.group_plan/1").
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tilewright/dist/plan.hpp"

namespace tw {

nlohmann::ordered_json group_plan_json(dist::group_plan const& g);

}  // namespace tw
