// SPDX-License-Identifier: Apache-2.0
// check_plan.hpp  Can this build launch a plan?
#pragma once

#include "tilewright/family/plan.hpp"

namespace tw {

/// Throws `rejected` TW0505 for a plan without a kernel, or with one that this build lacks.
void check_plan(gemm_plan const& plan);

}  // namespace tw
