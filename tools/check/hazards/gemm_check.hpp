// SPDX-License-Identifier: Apache-2.0
// gemm_check.hpp  Runs every GEMM kernel of the registry in the emulator with all checks on.
#pragma once

#include "tools/check/hazards/request.hpp"

namespace tw::hazards {

/// Each kernel over random shapes (or r.shapes), schedules and seeds; results are compared with
/// float64. The kernels are spread over the cores. TW0634: no kernel has a name that
/// was given.
std::vector<kernel_result> check_gemm_kernels(request const& r);

}  // namespace tw::hazards
