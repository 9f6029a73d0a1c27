// SPDX-License-Identifier: Apache-2.0
// block_quantize.hpp  The launches of kernel/quantize/blocks.hpp.
#pragma once

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/kernel/quantize/block_params.hpp"

typedef struct CUstream_st* cudaStream_t;  // same declaration as CUDA's own

namespace tw {

/// CTAs of the launch for the values on a device with this number of SMs.
int block_quantize_ctas(block_quantize_params const& q, int sm_count);

/// Calls launch(CTAs, parameters) for each pass; `zero` zeroes the second level before the first.
template <class Zero, class Launch>
void each_block_pass(block_quantize_params q, int sm_count, Zero const& zero,
                     Launch const& launch) {
  int const ctas = block_quantize_ctas(q, sm_count);
  if (q.format == block_format::nvfp4) {
    zero(q.second_level);
    q.pass = block_quantize_pass::amax;
    launch(ctas, q);
    q.pass = block_quantize_pass::second_level;
    launch(1, q);
  }
  q.pass = block_quantize_pass::values;
  launch(ctas, q);
}

/// Quantises on the current device, asynchronously on `stream`. Throws `rejected` TW0506.
void quantize_blocks(block_quantize_params const& q, cudaStream_t stream);

/// Quantises in the emulator; pointers are host pointers.
void quantize_blocks_emulated(block_quantize_params const& q, emu::options const& options);

}  // namespace tw
