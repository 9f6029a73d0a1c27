// SPDX-License-Identifier: Apache-2.0
// built_plans.hpp  The plans of a problem that this build has kernels for.
#pragma once

#include <vector>

#include "tilewright/dispatch/gemm.hpp"

namespace tw::test {

/// In the planner's order. Empty where only kernels that are not built compute the problem, as it
/// may be with TW_KERNELS=representative.
inline std::vector<gemm_plan> built_plans(gemm_problem const& p, gemm_operands const& o) {
  std::vector<gemm_plan> plans = plan_candidates(p, o, gpu_device(), kernel_set::all);
  std::erase_if(plans, [](gemm_plan const& x) { return !x.built; });
  return plans;
}

}  // namespace tw::test
