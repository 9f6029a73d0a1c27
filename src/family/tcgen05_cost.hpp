// SPDX-License-Identifier: Apache-2.0
// tcgen05_cost.hpp  The model of time that both families of Blackwell kernels have. No part of it
//                   is fitted to measurements of this library: sm100_calibration names the source
//                   of each constant.
#pragma once

#include "tilewright/device/device.hpp"

namespace tw {

struct tcgen05_cost {
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

/// Clocks of one tcgen05.mma of `tile_n` columns, mma_k_bytes deep, for a CTA or a pair with the
/// rows of tensor memory each, operands in shared memory.
double multiply_clocks(int ctas, int tile_n, sm100_calibration const& m);

/// Clusters of `ctas` CTAs that run at the same time.
int resident_tcgen05_clusters(int ctas, device const& dev);

/// Adds the launch, the copies and the sum of a prediction whose other parts are set.
void add_launch_and_total(tcgen05_cost& r, int ctas, extra_work const& extra,
                          gemm_calibration const& g);

}  // namespace tw
