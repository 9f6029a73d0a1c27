// SPDX-License-Identifier: Apache-2.0
// block_quantize.hpp  The launches of kernel/quantize/blocks.hpp.
#pragma once

#include <span>

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/kernel/quantize/block_params.hpp"

typedef struct CUstream_st* cudaStream_t;  // same declaration as CUDA's own

namespace tw {

/// CTAs of the launch for the values on a device with this number of SMs.
int block_quantize_ctas(block_quantize_params const& q, int sm_count);

/// The source of the second level of NVFP4: the largest element, or the caller.
enum class second_level_source { amax, given };

/// Calls launch(CTAs, parameters) for each pass. All matrices have one format, one shape and one
/// second level; `zero` sets the second level to zero before the first pass.
template <class Zero, class Launch>
void each_block_pass(std::span<block_quantize_params const> matrices, second_level_source level,
                     int sm_count, Zero const& zero, Launch const& launch) {
  if (matrices.empty()) return;
  int const ctas = block_quantize_ctas(matrices[0], sm_count);
  auto const pass = [&](block_quantize_pass which, int count, block_quantize_params q) {
    q.pass = which;
    launch(count, q);
  };
  if (matrices[0].format == block_format::nvfp4 && level == second_level_source::amax) {
    zero(matrices[0].second_level);
    for (block_quantize_params const& q : matrices) pass(block_quantize_pass::amax, ctas, q);
    pass(block_quantize_pass::second_level, 1, matrices[0]);
  }
  for (block_quantize_params const& q : matrices) pass(block_quantize_pass::values, ctas, q);
}

/// Quantises on the current device, asynchronously on `stream`. Throws `rejected` TW0506.
void quantize_blocks(std::span<block_quantize_params const> matrices, second_level_source level,
                     cudaStream_t stream);
inline void quantize_blocks(block_quantize_params const& q, cudaStream_t stream) {
  quantize_blocks({&q, 1}, second_level_source::amax, stream);
}

/// Quantises in the emulator; pointers are host pointers.
void quantize_blocks_emulated(block_quantize_params const& q, emu::options const& options);

}  // namespace tw
