// SPDX-License-Identifier: Apache-2.0
// driver_function.hpp  Functions of the CUDA driver, found at run time: a program starts without a
//                      driver, and no library of the driver is linked.
#pragma once

#include <cuda_runtime_api.h>

namespace tw::detail {

/// The driver's function of this name, in its interface of CUDA 12.0; nullptr if no driver is
/// installed or the driver lacks the function. A failed search leaves no error of the runtime.
/// CUDA runtime API, "cudaGetDriverEntryPointByVersion".
template <class Function>
Function driver_function(char const* name) {
  constexpr unsigned cuda_12 = 12000;
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  if (cudaGetDriverEntryPointByVersion(name, &found, cuda_12, cudaEnableDefault, &result) !=
      cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return result == cudaDriverEntryPointSuccess ? reinterpret_cast<Function>(found) : nullptr;
}

}  // namespace tw::detail
