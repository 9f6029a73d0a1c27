// SPDX-License-Identifier: Apache-2.0
// cost.hpp  Predicted time of an Ampere GEMM kernel on a device.
#pragma once

#include "family/predicted_times.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/kernel/sm80/config.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw::sm80_gemm_family {

/// CTAs that an SM holds at a time, by shared memory and registers.
int ctas_per_sm(sm80_config const& c, device const& dev);

/// Time of problem `p`, as the kernel runs it, on `dev`: the model of sm80_calibration.
/// copied_bytes: of operands that a launch before copies.
predicted_times predict(gemm_problem const& p, sm80_config const& c, device const& dev,
                        double copied_bytes);

}  // namespace tw::sm80_gemm_family
