// SPDX-License-Identifier: Apache-2.0
// cost.hpp  Predicted time of an Ampere GEMM kernel on a device.
#pragma once

#include "tilewright/device/device.hpp"
#include "tilewright/kernel/sm80/config.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw::sm80_gemm_family {

struct cost {
  double tensor_us = 0;         // the GEMM's own operations on the tensor cores of all SMs
  double math_us = 0;           // of the busiest SM, edges of tiles included
  double shared_memory_us = 0;  // that cp.async writes and ldmatrix reads, of the busiest SM
  double loads_us = 0, dram_us = 0, epilogue_us = 0, launch_us = 0, copies_us = 0, total_us = 0;
};

/// CTAs that an SM holds at a time, by shared memory and registers.
int ctas_per_sm(sm80_config const& c, device const& dev);

/// Time of problem `p`, as the kernel runs it, on `dev`: the model of sm80_calibration.
/// copied_bytes: of operands that a launch before copies.
cost predict(gemm_problem const& p, sm80_config const& c, device const& dev, double copied_bytes);

}  // namespace tw::sm80_gemm_family
