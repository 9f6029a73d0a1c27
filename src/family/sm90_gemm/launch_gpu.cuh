// SPDX-License-Identifier: Apache-2.0
// launch_gpu.cuh  Compiles kernels of the family sm90_gemm for the GPU.
#pragma once

#include "family/sm90_gemm/launchers.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"

namespace tw::sm90_gemm_family {

template <gemm_config C>
int launch_gpu(int ctas, gemm_params const& p, cudaStream_t stream, bool pdl) {
  return static_cast<int>(launch<gemm_sm90<C>>(ctas, p, stream, pdl));
}

}  // namespace tw::sm90_gemm_family
