// SPDX-License-Identifier: Apache-2.0
// repitch.cu  Compiles and starts kernel/repitch: repitch.hpp, rearrange.hpp, factors.hpp; and
//             kernel/moe/ordered_rows.hpp.
#include "dispatch/launch/repitch.hpp"

#include "tilewright/arch/cuda/launch.hpp"
#include "tilewright/kernel/repitch/factors.hpp"
#include "tilewright/kernel/repitch/rearrange.hpp"
#include "tilewright/kernel/repitch/repitch.hpp"

namespace tw {

cudaError_t repitch_operands(repitch_params const& p, cudaStream_t stream, bool pdl) {
  return launch<repitch>(repitch::ctas(p), p, stream, pdl);
}

cudaError_t rearrange_operands(rearrange_params const& p, cudaStream_t stream, bool pdl) {
  return launch<rearrange>(rearrange::ctas(p), p, stream, pdl);
}

cudaError_t copy_scales(factor_params const& p, cudaStream_t stream, bool pdl) {
  return launch<copy_factors>(copy_factors::ctas(p), p, stream, pdl);
}

cudaError_t copy_in_order(ordered_rows_params const& p, cudaStream_t stream, bool pdl) {
  return launch<copy_rows_in_order>(copy_rows_in_order::ctas(p), p, stream, pdl);
}

}  // namespace tw
