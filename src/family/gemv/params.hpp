// SPDX-License-Identifier: Apache-2.0
// params.hpp  A plan and its operands as the kernel's parameters.
#pragma once

#include "tilewright/family/plan.hpp"
#include "tilewright/kernel/gemv/params.hpp"

namespace tw::gemv_family {

/// Parameters for the plan's kernel. `q` is plan.normal. Throws `rejected` (TW0409) where A or B,
/// as run, do not begin at a multiple of 16 bytes: the plan was made for other operands.
gemv_params make_params(gemm_plan const& plan, gemm_problem const& q, gemm_operands const& o);

}  // namespace tw::gemv_family
