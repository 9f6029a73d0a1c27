// SPDX-License-Identifier: Apache-2.0
// cost.hpp  Predicted time of a Blackwell GEMM kernel on a device. No part of it is fitted to
//           measurements of this library: sm100_calibration names the source of each constant.
#pragma once

#include "tilewright/device/device.hpp"
#include "tilewright/kernel/sm100/config.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw::sm100_gemm_family {

struct cost {
  double tensor_us = 0;         // the GEMM's own operations on the tensor cores of all SMs
  double math_us = 0;           // of the busiest SM, edges of tiles and narrow multiplies included
  double shared_memory_us = 0;  // that TMA writes and multiplies read, of the busiest SM
  double promotion_us = 0;      // adding K blocks times their scales, beside the multiplies
  double additions_us = 0;      // the part of math_us in which the multiplies wait for them
  double loads_us = 0, dram_us = 0, epilogue_us = 0, launch_us = 0, copies_us = 0, total_us = 0;
};

/// Work that TMA cannot do: copies of operands by a launch before, stores of D.
struct extra_work {
  double copied_bytes = 0;
  bool plain_stores = false;
};

/// Clocks of one tcgen05.mma of `n` columns, 32 bytes deep, for a CTA or a pair with 128 rows each,
/// operands in shared memory.
double multiply_clocks(sm100_config const& c, sm100_calibration const& m);

/// Clocks that the warps of the epilogue need to add the sums of a K block times their scales. They
/// are counts of instructions of a thread for each column of the tile: an SM serves the 128 threads
/// in a clock, with float32 arithmetic (CUDA programming guide, "Throughput of Native Arithmetic
/// Instructions": 128 results per clock for compute capability 10.0); for loads from tensor memory
/// the same is assumed.
double promotion_clocks(gemm_problem const& p, sm100_config const& c);

/// Clusters that run at the same time.
int resident_clusters(sm100_config const& c, device const& dev);

/// Time of problem `p`, as the kernel runs it, on `dev`.
cost predict(gemm_problem const& p, sm100_config const& c, device const& dev,
             extra_work const& extra);

}  // namespace tw::sm100_gemm_family
