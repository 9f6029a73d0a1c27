// SPDX-License-Identifier: Apache-2.0
// repitch.cu  Compiles and starts kernel/repitch.hpp.
#include "dispatch/repitch.hpp"

#include "tilewright/arch/cuda/launch.hpp"
#include "tilewright/kernel/repitch.hpp"

namespace tw {

cudaError_t repitch_operands(repitch_params const& p, cudaStream_t stream, bool pdl) {
  constexpr int most_ctas = 132 * 4;  // at the same time on an H100 or H200
  return launch<repitch>(repitch::ctas(p, most_ctas), p, stream, pdl);
}

}  // namespace tw
