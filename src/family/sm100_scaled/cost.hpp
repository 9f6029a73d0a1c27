// SPDX-License-Identifier: Apache-2.0
// cost.hpp  Predicted time of a block-scaled kernel on a device: the model of family/sm100_gemm,
//           with the scales, and with one accumulator where tensor memory has no room for two.
#pragma once

#include "family/sm100_gemm/cost.hpp"
#include "tilewright/kernel/sm100/block_scaled_config.hpp"

namespace tw::sm100_scaled_family {

using sm100_gemm_family::cost;
using sm100_gemm_family::extra_work;

/// Clusters that run at the same time.
int resident_clusters(block_scaled_config const& c, device const& dev);

/// Time of problem `p`, as the kernel runs it, on `dev`.
cost predict(gemm_problem const& p, block_scaled_config const& c, device const& dev,
             extra_work const& extra);

}  // namespace tw::sm100_scaled_family
