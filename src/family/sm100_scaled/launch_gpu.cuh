// SPDX-License-Identifier: Apache-2.0
// launch_gpu.cuh  Compiles kernels of the family sm100_scaled for the GPU.
#pragma once

#include "family/sm100_scaled/launchers.hpp"
#include "tilewright/kernel/sm100/block_scaled.hpp"

namespace tw::sm100_scaled_family {

template <block_scaled_config C>
int launch_gpu(int ctas, block_scaled_params const& p, cudaStream_t stream, bool pdl) {
  return static_cast<int>(launch<block_scaled_sm100<C>>(ctas, p, stream, pdl));
}

}  // namespace tw::sm100_scaled_family
