// SPDX-License-Identifier: Apache-2.0
// cost.hpp  Predicted time of a block-scaled kernel on a device: the model of tcgen05_cost.hpp
//           with the scales, and with one accumulator where tensor memory has no room for two.
#pragma once

#include "family/tcgen05_cost.hpp"
#include "tilewright/kernel/sm100/block_scaled_config.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw::sm100_scaled_family {

/// Time of problem `p`, as the kernel runs it, on `dev`.
predicted_times predict(gemm_problem const& p, block_scaled_config const& c, device const& dev,
                        extra_work const& extra);

}  // namespace tw::sm100_scaled_family
