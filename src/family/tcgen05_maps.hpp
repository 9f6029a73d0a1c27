// SPDX-License-Identifier: Apache-2.0
// tcgen05_maps.hpp  Tensor maps that both families of Blackwell kernels have: B with a gate, and
//                   the auxiliary output.
#pragma once

#include "family/bind.hpp"
#include "tilewright/arch/tensor_map.hpp"

namespace tw {

/// A map of a K-major B with a gate: (k, column of D, 0 gates or 1 what they multiply, batch), in
/// boxes of span x columns.
tensor_map tcgen05_gated_map(void const* base, gemm_problem const& q, int span, int columns,
                             target t);

/// The auxiliary output leaves by TMA where that can address it, in the boxes of D. With a gate and
/// interleaved columns it does not.
void put_tcgen05_aux(fused_params& f, gemm_problem const& q, void* base, target t);

}  // namespace tw
