// SPDX-License-Identifier: Apache-2.0
// launch_gpu.cuh  Compiles kernels of the family sm80_gemm for the GPU.
#pragma once

#include "family/sm80_gemm/launchers.hpp"
#include "tilewright/kernel/sm80/gemm.hpp"

namespace tw::sm80_gemm_family {

template <sm80_config C>
int launch_gpu(int ctas, sm80_params const& p, cudaStream_t stream, bool pdl) {
  return static_cast<int>(launch<gemm_sm80<C>>(ctas, p, stream, pdl));
}

}  // namespace tw::sm80_gemm_family
