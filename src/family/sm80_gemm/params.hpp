// SPDX-License-Identifier: Apache-2.0
// params.hpp  A plan and its operands as the kernel's parameters.
#pragma once

#include "tilewright/family/plan.hpp"
#include "tilewright/kernel/sm80/params.hpp"

namespace tw::sm80_gemm_family {

/// The tiles of a problem as run, in the schedule's order. Throws `rejected` (TW0424) for a band
/// that no order has.
tile_order order_of(gemm_plan const& plan);

/// Parameters for the plan's kernel. `q` is plan.normal with the operands that the kernel loads.
/// Throws `rejected` (TW0409) where A or B, as run, do not begin at a multiple of 16 bytes: the
/// plan was made for other operands.
sm80_params make_params(gemm_plan const& plan, gemm_problem const& q, gemm_operands const& o);

}  // namespace tw::sm80_gemm_family
