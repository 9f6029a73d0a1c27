// SPDX-License-Identifier: Apache-2.0
// no_kernel.hpp  Why no kernel computes a GEMM.
#pragma once

#include <functional>

#include "tilewright/base/check.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// TW0471 where another device has a kernel. Else TW0414, which names the one type or order that
/// keeps the problem from every kernel, if it is one.
rejection no_kernel(gemm_problem const& p, device const& dev);

/// Has the planner a plan for a problem on a device?
using has_plan_for = std::function<bool(gemm_problem const&, device const&)>;

/// TW0467 for a problem with prepared 4-bit weights. It names each single change of the problem
/// that has a plan.
rejection no_kernel_for_weights(gemm_problem const& p, device const& dev, has_plan_for const& has);

/// For a problem of groups with the operands `o`: TW0495 if TMA cannot address one, else TW0494,
/// which names each single change of the problem that has a plan.
rejection no_kernel_for_groups(gemm_problem const& p, gemm_operands const& o, device const& dev,
                               has_plan_for const& has);

}  // namespace tw
