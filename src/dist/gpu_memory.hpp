// SPDX-License-Identifier: Apache-2.0
// gpu_memory.hpp  device_memory (placement.hpp) of CUDA.
#pragma once

#include "dist/placement.hpp"

namespace tw::dist {

/// Without the sizes of allocations, which take a second call of the driver.
device_memory const& memory_of_gpu();
device_memory const& memory_of_gpu_with_sizes();

}  // namespace tw::dist
