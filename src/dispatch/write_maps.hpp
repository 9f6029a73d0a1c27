// SPDX-License-Identifier: Apache-2.0
// write_maps.hpp  The launch before a batch by pointers.
#pragma once

#include <cuda_runtime_api.h>

#include "tilewright/kernel/batch_maps_params.hpp"

namespace tw {

/// Starts kernel/batch_maps.hpp on `stream`.
cudaError_t write_maps(batch_maps_params const& p, cudaStream_t stream);

}  // namespace tw
