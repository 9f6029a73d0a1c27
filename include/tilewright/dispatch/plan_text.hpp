// SPDX-License-Identifier: Apache-2.0
// plan_text.hpp  A plan as one line of text: to store it, to log it, to pass it to another process.
#pragma once

#include <string>
#include <string_view>

#include "tilewright/device/device.hpp"
#include "tilewright/family/plan.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// A line of JSON, schema "tilewright.plan_text/1": the device that the plan was made for, its
/// problem, the kernel by name, swap-AB, the operands that are copied first, the schedule, and
/// programmatic dependent launch. Kernel names hold for all builds; a text holds no addresses.
std::string plan_text(gemm_plan const& plan);

/// The plan of a text, for `p` with operands aligned as the plan's were, on `dev`. `dev` predicts
/// its time; the schedule and the early start are the text's. Throws `rejected` as plan_gemm does,
/// and TW0498 if the text is not of plan_text(), TW0499 if it is of another problem or device, or
/// if these operands need other copies, TW0505 if this build lacks the kernel.
gemm_plan plan_from_text(std::string_view text, gemm_problem const& p, gemm_operands const& o,
                         device const& dev);

}  // namespace tw
