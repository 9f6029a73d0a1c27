// SPDX-License-Identifier: Apache-2.0
// probes_gpu.cu  The probes on a GPU: machine code for sm_100f.
#include <cuda_runtime.h>

#include "tools/check/selftest/probes.hpp"
#include "tools/check/selftest/selftest.hpp"

namespace tw::selftest {

std::string run_probe_on_gpu(int probe, std::vector<std::uint32_t>& words) {
  std::uint32_t* out = nullptr;
  std::size_t const bytes = words.size() * sizeof(std::uint32_t);
  cudaError_t error = cudaMalloc(&out, bytes);
  if (error == cudaSuccess) error = cudaMemset(out, 0, bytes);
  int i = 0;
  each_probe([&](char const*, auto kernel, int ctas) {
    if (i++ == probe && error == cudaSuccess)
      error = launch<decltype(kernel)>(ctas, {out}, nullptr);
  });
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error == cudaSuccess) error = cudaMemcpy(words.data(), out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return error == cudaSuccess ? "" : cudaGetErrorString(error);
}

}  // namespace tw::selftest
