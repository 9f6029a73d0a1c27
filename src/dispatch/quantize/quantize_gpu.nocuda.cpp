// SPDX-License-Identifier: Apache-2.0
// quantize_gpu.nocuda.cpp  Quantisation on a GPU in a build without CUDA.
#include "dispatch/quantize/quantize.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw {

void quantize(quantize_problem const& p, quantize_operands const& o, cudaStream_t) {
  quantize_params_of(p, o);
  throw rejected(gpu().why_not);
}

}  // namespace tw
