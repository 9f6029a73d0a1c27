// SPDX-License-Identifier: Apache-2.0
// resources.hpp  Threads, shared memory and tensor memory of a Blackwell kernel, from its
//                configuration: what gemm_sm100<C> has, for a configuration of a run.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/kernel/sm100/config.hpp"

namespace tw::sm100_gemm_family {

/// Stages, two boxes of D for each epilogue warp, scales of a tile's columns for each, barriers;
/// tests/kernel compares.
constexpr std::int64_t smem_bytes_of(sm100_config const& c) {
  std::int64_t const tiles = std::int64_t{1} * c.stages * c.stage_bytes();
  constexpr int staging = 4 * 2 * 32 * 128;
  std::int64_t const answers = c.dynamic ? 16 + 2 * 16 + 4 * 8 : 0;
  std::int64_t const barriers = 8 * (2 * c.stages + 2 * c.accumulators()) + 4 + answers;
  std::int64_t const scales = c.block_scales ? 4 * 4 * c.tile_n : 0;
  std::int64_t const bytes = tiles + staging + scales + barriers;
  return (bytes + swizzle_pattern_bytes - 1) / swizzle_pattern_bytes * swizzle_pattern_bytes;
}

inline kernel_resources resources_of(sm100_config const& c) {
  return {.cta = {.threads = c.threads(),
                  .registers = 0,
                  .smem_bytes = smem_bytes_of(c),
                  .cluster = c.ctas,
                  .tensor_columns = c.tensor_columns()},
          .stages = c.stages,
          .stage_bytes = c.stage_bytes(),
          .sums = c.block_scales ? c.tile_n : 0};  // others are in tensor memory
}

}  // namespace tw::sm100_gemm_family
