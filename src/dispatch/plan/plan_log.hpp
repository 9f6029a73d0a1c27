// SPDX-License-Identifier: Apache-2.0
// plan_log.hpp  Logs plans, their reasons and performance hints.
#pragma once

#include "tilewright/dispatch/gemm.hpp"

namespace tw {

/// Once for each problem, workspace and alignment: the plan (info), and hints (a warning where the
/// GPU is, else info). `o`: as planned with.
void log_plan(gemm_plan const& plan, gemm_operands const& o, device const& dev);

}  // namespace tw
