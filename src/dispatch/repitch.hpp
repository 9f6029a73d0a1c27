// SPDX-License-Identifier: Apache-2.0
// repitch.hpp  The launch that copies operands to a pitch that TMA can address.
#pragma once

#include <cuda_runtime_api.h>

#include "tilewright/kernel/repitch/params.hpp"

namespace tw {

/// Starts kernel/repitch/repitch.hpp on `stream`. pdl: as in arch/cuda/launch.hpp.
cudaError_t repitch_operands(repitch_params const& p, cudaStream_t stream, bool pdl);

}  // namespace tw
