// SPDX-License-Identifier: Apache-2.0
// plugin_check.hpp  Runs the kernels of a plugin over shapes, schedules and seeds.
#pragma once

#include "tools/check/hazards/request.hpp"

namespace tw::hazards {

/// Each kernel of the plugin at r.target. Refuses (TW0634) a kernel or a bug that it has not.
std::vector<kernel_result> check_plugin(request const& r);

}  // namespace tw::hazards
