// SPDX-License-Identifier: Apache-2.0
// launch_gpu.cuh  Compiles kernels of the family gemv for the GPU.
#pragma once

#include "family/gemv/launchers.hpp"
#include "tilewright/kernel/gemv/gemv.hpp"

namespace tw::gemv_family {

template <gemv_config C>
int launch_gpu(int ctas, gemv_params const& p, cudaStream_t stream, bool pdl) {
  return static_cast<int>(launch<tw::gemv<C>>(ctas, p, stream, pdl));
}

}  // namespace tw::gemv_family
