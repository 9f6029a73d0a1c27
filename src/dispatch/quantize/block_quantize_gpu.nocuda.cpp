// SPDX-License-Identifier: Apache-2.0
// block_quantize_gpu.nocuda.cpp  MXFP8, MXFP4 and NVFP4 on a GPU in a build without CUDA.
#include "dispatch/quantize/block_quantize.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw {

void quantize_blocks(std::span<block_quantize_params const>, second_level_source, cudaStream_t) {
  throw rejected(gpu().why_not);
}

}  // namespace tw
