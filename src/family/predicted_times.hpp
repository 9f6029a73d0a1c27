// SPDX-License-Identifier: Apache-2.0
// predicted_times.hpp  The parts of a predicted time, microseconds, as the models of all families
//                      but sm90_gemm have them.
#pragma once

namespace tw {

struct predicted_times {
  double tensor_us = 0;         // the GEMM's own operations on the tensor cores of all SMs
  double math_us = 0;           // of the busiest SM, edges of tiles and narrow multiplies included
  double shared_memory_us = 0;  // bytes written and read in shared memory, of the busiest SM
  double promotion_us = 0;      // adding K blocks times their scales, beside the multiplies
  double additions_us = 0;      // the part of math_us in which the multiplies wait for them
  double loads_us = 0, dram_us = 0, epilogue_us = 0, launch_us = 0, copies_us = 0, total_us = 0;
};

}  // namespace tw
