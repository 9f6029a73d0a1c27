// SPDX-License-Identifier: Apache-2.0
// repitch.hpp  All matrices of a batched operand, copied to a pitch that TMA can address.
#pragma once

#include <cuda_runtime_api.h>

#include "dispatch/params.hpp"

namespace tw {

/// One launch for the whole batch, of a 16-bit type. c.to is 16-byte aligned.
cudaError_t repitch(operand_copy const& c, cudaStream_t stream);

}  // namespace tw
