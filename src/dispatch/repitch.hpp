// SPDX-License-Identifier: Apache-2.0
// repitch.hpp  All matrices of a batched operand, copied to a pitch that TMA can address.
#pragma once

#include <cuda_runtime_api.h>

#include "dispatch/params.hpp"

namespace tw {

/// One launch for the whole batch: matrix i of `from`, of extents e and described by `m` (a 16-bit
/// type), goes to i * to.batch_stride_elems of `copy`, which is 16-byte aligned.
cudaError_t repitch(void* copy, padded const& to, void const* from, matrix_desc const& m, extents e,
                    cudaStream_t stream);

}  // namespace tw
