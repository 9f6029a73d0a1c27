// SPDX-License-Identifier: Apache-2.0
// tcgen05_params.hpp  Parameters that both families of Blackwell kernels have: the map of B with a
//                     gate, and the epilogue.
#pragma once

#include "family/bind.hpp"
#include "tilewright/arch/tensor_map.hpp"

namespace tw {

/// A map of a K-major B with a gate, in boxes of span x columns. Its dimensions are k, the column
/// of D, 0 for gates and 1 for what they multiply, and the batch.
tensor_map tcgen05_gated_map(void const* base, gemm_problem const& q, int span, int columns,
                             target t);

/// Everything of an epilogue but block scales of D. Without plan.direct_d the kernel stores D by
/// TMA, in boxes of sm100_epilogue; a block-scaled D has no map. placed: the map of D ends in a
/// tma_place, or (batch, 0), instead of the batch index.
epilogue_params tcgen05_epilogue(gemm_plan const& plan, gemm_problem const& q,
                                 gemm_operands const& o, bool placed, target t);

}  // namespace tw
