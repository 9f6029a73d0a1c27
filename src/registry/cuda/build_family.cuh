// SPDX-License-Identifier: Apache-2.0
// build_family.cuh  Compiles the device kernels of a family.
#pragma once

#include "registry/cuda/families.hpp"
#include "tilewright/kernel/gemm_sm90.hpp"

namespace tw::registry {

template <gemm_config C>
int launch_gemm(int ctas, gemm_params const& p, cudaStream_t stream, bool pdl) {
  return static_cast<int>(launch<gemm_sm90<C>>(ctas, p, stream, pdl));
}

struct gpu_maker {
  template <gemm_config C>
  static constexpr gpu_launcher launcher() {
    return &launch_gemm<C>;
  }
};

template <elem AB, elem D, operand_major A, operand_major B>
family<gpu_launcher> gpu_family() {
  return make_family<gpu_launcher, AB, D, A, B>(gpu_maker{});
}

}  // namespace tw::registry
