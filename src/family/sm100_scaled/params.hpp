// SPDX-License-Identifier: Apache-2.0
// params.hpp  A plan and its operands as the kernel's parameters.
#pragma once

#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/family/plan.hpp"
#include "tilewright/kernel/sm100/block_scaled_params.hpp"

namespace tw::sm100_scaled_family {

/// The tiles of a problem as run, in the schedule's order. Throws `rejected` (TW0424) for a band
/// that no order has.
tile_order order_of(gemm_plan const& plan);

/// Parameters for the plan's kernel. `q` is plan.normal with the operands that the kernel loads.
block_scaled_params make_params(gemm_plan const& plan, gemm_problem const& q,
                                gemm_operands const& o, target t);

}  // namespace tw::sm100_scaled_family
