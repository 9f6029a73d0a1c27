// SPDX-License-Identifier: Apache-2.0
// write_maps.cu  Compiles and starts kernel/batch_maps.hpp.
#include "dispatch/write_maps.hpp"

#include "tilewright/arch/cuda/launch.hpp"
#include "tilewright/kernel/batch_maps.hpp"

namespace tw {

cudaError_t write_maps(batch_maps_params const& p, cudaStream_t stream) {
  entry<batch_maps><<<static_cast<unsigned>(batch_maps::ctas(p.batch)),
                      static_cast<unsigned>(batch_maps::threads), 0, stream>>>(p);
  return cudaGetLastError();
}

}  // namespace tw
