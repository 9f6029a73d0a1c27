// SPDX-License-Identifier: Apache-2.0
// check.hpp  Every CUDA call of the benchmark passes here: a failure is refused with its name.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "tilewright/base/check.hpp"

namespace tw::bench {

inline void check(cudaError_t status, char const* what) {
  if (status == cudaSuccess) return;
  throw rejected({"TW0710", what,
                  std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")",
                  "cudaSuccess", ""});
}

}  // namespace tw::bench
