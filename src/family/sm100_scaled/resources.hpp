// SPDX-License-Identifier: Apache-2.0
// resources.hpp  Threads, shared memory and tensor memory of a block-scaled kernel, from its
//                configuration: what block_scaled_sm100<C> has, for a configuration of a run.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/kernel/sm100/block_scaled_config.hpp"
#include "tilewright/kernel/sm100/cta.hpp"

namespace tw::sm100_scaled_family {

/// Stages, two boxes of D for each epilogue warp, barriers; tests/kernel compares.
constexpr std::int64_t smem_bytes_of(block_scaled_config const& c) {
  std::int64_t const tiles = std::int64_t{1} * c.stages * c.stage_bytes();
  int const box = c.block_result() ? sm100_cta::unstaged_box_bytes : sm100_cta::box_bytes;
  int const staging = sm100_cta::epilogue_warps * sm100_cta::boxes * box;
  constexpr int mbarrier_bytes = 8, tensor_address_bytes = 4;
  std::int64_t const barriers =
      mbarrier_bytes * 2 * (c.stages + c.accumulators()) + tensor_address_bytes;
  std::int64_t const bytes = tiles + staging + barriers;
  return (bytes + swizzle_pattern_bytes - 1) / swizzle_pattern_bytes * swizzle_pattern_bytes;
}

inline kernel_resources resources_of(block_scaled_config const& c) {
  return {.cta = {.threads = sm100_cta::threads,
                  .registers = 0,
                  .smem_bytes = smem_bytes_of(c),
                  .cluster = c.ctas,
                  .tensor_columns = c.tensor_columns()},
          .stages = c.stages,
          .stage_bytes = c.stage_bytes(),
          .sums = 0};  // accumulators are in tensor memory
}

}  // namespace tw::sm100_scaled_family
