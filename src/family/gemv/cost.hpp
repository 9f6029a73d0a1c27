// SPDX-License-Identifier: Apache-2.0
// cost.hpp  Predicted time of a GEMV kernel on a device.
#pragma once

#include "family/predicted_times.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/kernel/gemv/config.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw::gemv_family {

/// Time of problem `q`, as the kernel runs it on this number of CTAs. DRAM, the iterations of a
/// CTA's loop and what one SM reads limit together: their squares add (docs/decisions/0014).
predicted_times predict(gemm_problem const& q, gemv_config const& c, int ctas, device const& dev);

}  // namespace tw::gemv_family
