// SPDX-License-Identifier: Apache-2.0
// host.hpp  Memory and launches of the backend that a unit is compiled for (the GPU): a harness
//           written with these names tests a kernel in the emulator and on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "tilewright/arch/cuda/launch.hpp"
#include "tilewright/arch/tensor_map.hpp"

namespace tw::host {

inline constexpr target where = target::gpu;

inline void must(cudaError_t e, char const* what) {
  if (e != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}

/// Memory that kernels address.
inline void* allocate(std::size_t bytes) {
  void* p = nullptr;
  must(cudaMalloc(&p, bytes), "cudaMalloc");
  return p;
}
inline void release(void* p) { cudaFree(p); }
/// Between such memory and the host's, in either direction.
inline void copy(void* to, void const* from, std::size_t bytes) {
  must(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

/// Runs kernel K over `ctas` CTAs; blocks until done. The options are the emulator's;
/// a launch on the GPU shows nothing of itself, its result has to be compared.
template <class K, class Options>
cudaError_t run(extents3 ctas, typename K::params const& p, Options const&) {
  must(launch<K>(ctas, p, nullptr), "launch");
  must(cudaDeviceSynchronize(), "kernel");
  return cudaSuccess;
}

}  // namespace tw::host
