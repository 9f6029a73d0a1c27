// SPDX-License-Identifier: Apache-2.0
// launch.hpp  Starts a kernel struct on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tw {

/// The one kernel of K. The parameters stay in constant memory, where TMA finds its tensor maps.
template <class K>
__global__ void __launch_bounds__(K::threads, 1)
    entry(__grid_constant__ typename K::params const p) {
  K::run(p);
}

/// Lets `kernel` have smem_bytes of dynamic shared memory on the current device. `done` holds a bit
/// for each device that has agreed.
inline cudaError_t allow_smem(void const* kernel, int smem_bytes, std::uint64_t& done) {
  int device = 0;
  if (cudaError_t const e = cudaGetDevice(&device); e != cudaSuccess) return e;
  std::uint64_t const bit = device < 64 ? std::uint64_t{1} << device : 0;
  if ((__atomic_load_n(&done, __ATOMIC_RELAXED) & bit) != 0) return cudaSuccess;
  cudaError_t const e =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, smem_bytes);
  if (e == cudaSuccess) __atomic_fetch_or(&done, bit, __ATOMIC_RELAXED);
  return e;
}

/// Starts kernel K (params, threads, cluster, smem_bytes, run) over `ctas` CTAs, a multiple of the
/// cluster. pdl: it may start before its predecessor in the stream has finished, and waits with
/// grid_dependency_wait. CUDA runtime API, "cudaLaunchKernelExC".
template <class K>
cudaError_t launch(int ctas, typename K::params const& p, cudaStream_t stream, bool pdl = false) {
  static std::uint64_t devices = 0;
  auto const kernel = reinterpret_cast<void const*>(&entry<K>);
  if (cudaError_t const e = allow_smem(kernel, K::smem_bytes, devices); e != cudaSuccess) return e;
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(ctas));
  config.blockDim = dim3(static_cast<unsigned>(K::threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(K::smem_bytes);
  config.stream = stream;
  config.attrs = attributes;
  if (K::cluster > 1) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim.x = static_cast<unsigned>(K::cluster);
    a.val.clusterDim.y = a.val.clusterDim.z = 1;
  }
  if (pdl) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
  }
  void* arguments[] = {const_cast<typename K::params*>(&p)};
  return cudaLaunchKernelExC(&config, kernel, arguments);
}

}  // namespace tw
