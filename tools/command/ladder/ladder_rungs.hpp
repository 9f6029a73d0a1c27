// SPDX-License-Identifier: Apache-2.0
// ladder_rungs.hpp  The rungs of ladder, compiled for the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <functional>
#include <vector>

#include "tilewright/problem/gemm.hpp"

namespace tw::bench {

/// Launches one kernel with fixed parameters; asynchronous, may be captured.
using rung_launch = std::function<void(cudaStream_t)>;

struct gpu_rung {
  int number;
  char const *name, *step;  // step: inside of a rung, or ""
  std::array<int, 3> tile;  // of which M, N and K are multiples; 1: any extent
  bool scaled;              // e4m3 with scales of 1x128 instead of bf16
  /// Encodes the tensor maps of M = N = K = size for a GPU of so many SMs.
  rung_launch (*prepare)(gemm_operands const& o, int size, int sms);
};
std::vector<gpu_rung> const& gpu_rungs();
std::vector<gpu_rung> const& gpu_side_rungs();

}  // namespace tw::bench
