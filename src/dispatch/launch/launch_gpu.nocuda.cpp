// SPDX-License-Identifier: Apache-2.0
// launch_gpu.nocuda.cpp  The GPU half of the front door in a build without CUDA.
#include "dispatch/plan/gated.hpp"

namespace tw {

gpu_info const& gpu() {
  static gpu_info const info = [] {
    gpu_info i;
    i.why_not = {"TW0501", "GPU", "a build without CUDA", "a build with a CUDA 13 toolkit",
                 "configure with -DTW_CUDA=ON"};
    return i;
  }();
  return info;
}

device const& gpu_device() { throw rejected(gpu().why_not); }

void gemm(gemm_problem const&, gemm_operands const&, cudaStream_t, launch_options const&) {
  throw rejected(gpu().why_not);
}
void gemm(gemm_plan const&, gemm_operands const&, cudaStream_t, launch_options const&) {
  throw rejected(gpu().why_not);
}
void gemm(gemm_plan const&, gemm_operands const&, gate_form const&, cudaStream_t) {
  throw rejected(gpu().why_not);
}

}  // namespace tw
