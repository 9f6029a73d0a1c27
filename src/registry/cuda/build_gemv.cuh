// SPDX-License-Identifier: Apache-2.0
// build_gemv.cuh  Compiles the GEMV kernels of a family for the device.
#pragma once

#include "registry/cuda/gemv_families.hpp"
#include "tilewright/kernel/gemv.hpp"

namespace tw::registry {

template <gemv_config C>
int launch_gemv(int ctas, gemv_params const& p, cudaStream_t stream, bool pdl) {
  return static_cast<int>(launch<gemv<C>>(ctas, p, stream, pdl));
}

struct gpu_gemv_maker {
  template <gemv_config C>
  static constexpr gemv_gpu_launcher launcher() {
    return &launch_gemv<C>;
  }
};

template <elem AB, elem D>
gemv_family<gemv_gpu_launcher> gpu_gemv_family() {
  return make_gemv_family<gemv_gpu_launcher, AB, D>(gpu_gemv_maker{});
}

}  // namespace tw::registry
