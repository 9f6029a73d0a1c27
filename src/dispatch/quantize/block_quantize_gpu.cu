// SPDX-License-Identifier: Apache-2.0
// block_quantize_gpu.cu  Compiles and starts kernel/quantize/blocks.hpp.
#include <cuda_runtime_api.h>

#include "dispatch/quantize/block_quantize.hpp"
#include "tilewright/arch/cuda/launch.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/kernel/quantize/blocks.hpp"

namespace tw {

void quantize_blocks(std::span<block_quantize_params const> matrices, second_level_source level,
                     cudaStream_t stream) {
  auto const must = [](cudaError_t e, char const* what) {
    if (e == cudaSuccess) return;
    cudaGetLastError();  // a failed call must not be reported again by the next check
    throw rejected({"TW0506", what, cudaGetErrorString(e), "success", ""});
  };
  each_block_pass(
      matrices, level, gpu().sms,
      [&](float* to) {
        must(cudaMemsetAsync(to, 0, sizeof *to, stream), "second level of a quantisation");
      },
      [&](int ctas, block_quantize_params const& pass) {
        must(launch<block_quantize_kernel>(ctas, pass, stream, false),
             "launch that quantises blocks");
      });
}

}  // namespace tw
