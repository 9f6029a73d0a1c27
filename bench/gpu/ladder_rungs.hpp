// SPDX-License-Identifier: Apache-2.0
// ladder_rungs.hpp  The rungs of examples/ladder, compiled for the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <functional>
#include <vector>

namespace ladder {
struct problem;
}

namespace tw::bench {

/// Launches one kernel with fixed parameters; asynchronous, may be captured.
using rung_launch = std::function<void(cudaStream_t)>;

struct gpu_rung {
  int number;
  char const *name, *step;  // step: inside of a rung, or ""
  std::array<int, 3> tile;  // of which M, N and K are multiples; 1: any extent
  rung_launch (*prepare)(ladder::problem const&);  // encodes the tensor maps
};
std::vector<gpu_rung> const& gpu_rungs();
std::vector<gpu_rung> const& gpu_side_rungs();

}  // namespace tw::bench
