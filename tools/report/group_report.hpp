// SPDX-License-Identifier: Apache-2.0
// group_report.hpp  A plan over several GPUs as text and as JSON ("tilewright.group_plan/1").
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tilewright/dist/plan.hpp"

namespace tw {

std::string group_plan_text(dist::group_plan const& g, device const& dev);
nlohmann::ordered_json group_plan_json(dist::group_plan const& g, device const& dev);

}  // namespace tw
