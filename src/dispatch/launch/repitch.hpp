// SPDX-License-Identifier: Apache-2.0
// repitch.hpp  The launches that copy operands to a pitch that TMA can address.
#pragma once

#include <cuda_runtime_api.h>

#include "tilewright/kernel/moe/ordered_rows.hpp"
#include "tilewright/kernel/repitch/params.hpp"

namespace tw {

/// Starts kernel/repitch/repitch.hpp on `stream`. pdl: as in arch/cuda/launch.hpp.
cudaError_t repitch_operands(repitch_params const& p, cudaStream_t stream, bool pdl);
/// Starts kernel/repitch/rearrange.hpp.
cudaError_t rearrange_operands(rearrange_params const& p, cudaStream_t stream, bool pdl);

/// Starts kernel/repitch/factors.hpp.
cudaError_t copy_scales(factor_params const& p, cudaStream_t stream, bool pdl);

/// Starts kernel/moe/ordered_rows.hpp.
cudaError_t copy_in_order(ordered_rows_params const& p, cudaStream_t stream, bool pdl);

}  // namespace tw
