// SPDX-License-Identifier: Apache-2.0
// tcgen05_cost.hpp  The model of time that both families of Blackwell kernels have. No part of it
//                   is fitted to measurements of this library: sm100_calibration names the source
//                   of each constant.
#pragma once

#include "family/extra_work.hpp"
#include "family/predicted_times.hpp"
#include "tilewright/device/device.hpp"

namespace tw {

/// Clocks of one tcgen05.mma of `tile_n` columns, mma_k_bytes deep, for a CTA or a pair with the
/// rows of tensor memory each, operands in shared memory.
double multiply_clocks(int ctas, int tile_n, sm100_calibration const& m);

/// Clusters of `ctas` CTAs that run at the same time.
int resident_tcgen05_clusters(int ctas, device const& dev);

/// Adds the launch, the copies and the sum of a prediction whose other parts are set.
void add_launch_and_total(predicted_times& r, int ctas, extra_work const& extra,
                          gemm_calibration const& g);

}  // namespace tw
