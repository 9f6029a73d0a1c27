// SPDX-License-Identifier: Apache-2.0
// check_plan.cpp  A plan names a family and a kernel that this build has.
#include "dispatch/plan/check_plan.hpp"

#include "family/launcher_of.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/family/family.hpp"

namespace tw {

void check_plan(gemm_plan const& plan) {
  bool const known =
      plan.family != nullptr && plan.instance >= 0 && plan.instance < plan.family->kernel_count();
  if (!known || !plan.family->built(plan.instance)) throw rejected(kernel_not_built(plan));
}

}  // namespace tw
