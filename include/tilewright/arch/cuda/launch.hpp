// SPDX-License-Identifier: Apache-2.0
// launch.hpp  Starts a kernel struct on the GPU.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "tilewright/arch/cuda/driver_function.hpp"
#include "tilewright/arch/types.hpp"

namespace tw {

namespace detail {

/// CTAs that must fit on an SM at the same time: 1, unless kernel K says otherwise.
template <class K>
constexpr int ctas_per_sm() {
  if constexpr (requires { K::ctas_per_sm; })
    return K::ctas_per_sm;
  else
    return 1;
}

}  // namespace detail

/// The one kernel of K. The parameters stay in constant memory, where TMA finds its tensor maps.
template <class K>
__global__ void __launch_bounds__(K::threads, detail::ctas_per_sm<K>())
    entry(__grid_constant__ typename K::params const p) {
  K::run(p);
}

namespace detail {

/// A kernel and the shape of its CTAs.
struct kernel_shape {
  void const* kernel;
  int threads, cluster, smem_bytes;
};

/// CTAs of a cluster that every GPU with clusters accepts. CUDA C++ Programming Guide, "Thread
/// Block Clusters".
inline constexpr int portable_cluster = 8;

/// Lets the kernel have its dynamic shared memory, and a cluster of more than 8 CTAs, on the
/// current device. `done` holds a bit for each device that has agreed. By the driver:
/// cudaFuncSetAttribute() succeeds and resets the caller's last error. Its results are the numbers
/// of the runtime's. CUDA driver API, "cuFuncSetAttribute".
inline cudaError_t allow_smem(kernel_shape const& k, std::uint64_t& done) {
  int device = 0;
  if (cudaError_t const e = cudaGetDevice(&device); e != cudaSuccess) return e;
  std::uint64_t const bit = device < 64 ? std::uint64_t{1} << device : 0;
  if ((__atomic_load_n(&done, __ATOMIC_RELAXED) & bit) != 0) return cudaSuccess;
  auto const set = driver_function<decltype(&cuFuncSetAttribute)>("cuFuncSetAttribute");
  if (set == nullptr) return cudaErrorCallRequiresNewerDriver;
  cudaFunction_t function = nullptr;
  if (cudaError_t const e = cudaGetFuncBySymbol(&function, k.kernel); e != cudaSuccess) return e;
  auto const allow = [&](CUfunction_attribute what, int value) {
    return static_cast<cudaError_t>(set(function, what, value));
  };
  cudaError_t e = allow(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k.smem_bytes);
  if (e == cudaSuccess && k.cluster > portable_cluster)
    e = allow(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  if (e == cudaSuccess) __atomic_fetch_or(&done, bit, __ATOMIC_RELAXED);
  return e;
}

inline cudaError_t launch(kernel_shape const& k, extents3 ctas, void* params, cudaStream_t stream,
                          bool pdl, std::uint64_t& smem_done) {
  if (cudaError_t const e = allow_smem(k, smem_done); e != cudaSuccess) return e;
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(ctas.x), static_cast<unsigned>(ctas.y),
                        static_cast<unsigned>(ctas.z));
  config.blockDim = dim3(static_cast<unsigned>(k.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(k.smem_bytes);
  config.stream = stream;
  config.attrs = attributes;
  if (k.cluster > 1) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim.x = static_cast<unsigned>(k.cluster);
    a.val.clusterDim.y = a.val.clusterDim.z = 1;
  }
  if (pdl) {
    cudaLaunchAttribute& a = attributes[config.numAttrs++];
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
  }
  return cudaLaunchKernelExC(&config, k.kernel, &params);
}

}  // namespace detail

/// Starts kernel K (params, threads, cluster, smem_bytes, run) over `ctas` CTAs, whose x is a
/// multiple of the cluster. pdl: it may start before its predecessor in the stream has finished,
/// and waits with grid_dependency_wait. CUDA runtime API, "cudaLaunchKernelExC". static: nvcc 13
/// gives each unit its own copy of a kernel template, and what one copy has been allowed does not
/// hold for another. NVCC, "--static-global-template-stub".
template <class K>
static cudaError_t launch(extents3 ctas, typename K::params const& p, cudaStream_t stream,
                          bool pdl = false) {
  static std::uint64_t smem_done = 0;
  detail::kernel_shape const k{reinterpret_cast<void const*>(&entry<K>), K::threads, K::cluster,
                               K::smem_bytes};
  return detail::launch(k, ctas, const_cast<typename K::params*>(&p), stream, pdl, smem_done);
}

}  // namespace tw
