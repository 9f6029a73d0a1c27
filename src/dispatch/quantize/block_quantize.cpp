// SPDX-License-Identifier: Apache-2.0
// block_quantize.cpp  The size of the launches that make MXFP8, MXFP4 or NVFP4 of a matrix, and the
//                     launches in the emulator.
#include "dispatch/quantize/block_quantize.hpp"

#include <algorithm>

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/quantize/blocks.hpp"

namespace tw {

int block_quantize_ctas(block_quantize_params const& q, int sm_count) {
  std::int64_t const blocks = q.rows * blocks_in(q.cols, traits_of(q.format).block);
  constexpr int ctas_per_sm = 8;  // as many as fit
  return static_cast<int>(std::min<std::int64_t>(blocks_in(blocks, block_quantize_kernel::threads),
                                                 std::int64_t{ctas_per_sm} * sm_count));
}

void quantize_blocks_emulated(block_quantize_params const& q, emu::options const& options) {
  each_block_pass(
      {&q, 1}, second_level_source::amax, std::max(1, options.sms),
      [](float* level) { *level = 0.0F; },
      [&](int ctas, block_quantize_params const& pass) {
        launch<block_quantize_kernel>(ctas, pass, options);
      });
}

}  // namespace tw
