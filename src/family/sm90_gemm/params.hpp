// SPDX-License-Identifier: Apache-2.0
// params.hpp  A plan and its operands as the kernel's parameters.
#pragma once

#include "family/bind.hpp"
#include "tilewright/kernel/sm90/params.hpp"

namespace tw {

/// Parameters for the plan's kernel. `q` is plan.normal with the leading dimensions of the memory
/// in `o`. Throws `rejected` as check_schedule().
gemm_params make_params(gemm_plan const& plan, gemm_problem const& q, gemm_operands const& o,
                        target t);

}  // namespace tw
