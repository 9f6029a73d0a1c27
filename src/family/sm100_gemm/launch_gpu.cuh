// SPDX-License-Identifier: Apache-2.0
// launch_gpu.cuh  Compiles kernels of the family sm100_gemm for the GPU.
#pragma once

#include "family/sm100_gemm/launchers.hpp"
#include "tilewright/kernel/sm100/gemm.hpp"

namespace tw::sm100_gemm_family {

template <sm100_config C>
int launch_gpu(int ctas, sm100_params const& p, cudaStream_t stream, bool pdl) {
  return static_cast<int>(launch<gemm_sm100<C>>(ctas, p, stream, pdl));
}

}  // namespace tw::sm100_gemm_family
