// SPDX-License-Identifier: Apache-2.0
// resources.hpp  Threads, shared memory and tensor memory of a Blackwell kernel, from its
//                configuration: what gemm_sm100<C> has, for a configuration of a run.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/kernel/sm100/config.hpp"
#include "tilewright/kernel/sm100/cta.hpp"

namespace tw::sm100_gemm_family {

/// Stages, two boxes of D for each epilogue warp, scales of a tile's columns for each, barriers;
/// tests/kernel compares.
constexpr std::int64_t smem_bytes_of(sm100_config const& c) {
  std::int64_t const tiles = std::int64_t{1} * c.stages * c.stage_bytes();
  constexpr int mbarrier_bytes = 8, tensor_address_bytes = 4;
  constexpr int staging = sm100_cta::epilogue_warps * sm100_cta::boxes * sm100_cta::box_bytes;
  constexpr int answers = 2, answer_bytes = 16;  // and the padding before them
  std::int64_t const next = answer_bytes + answers * (answer_bytes + 2 * mbarrier_bytes);
  std::int64_t const barriers = mbarrier_bytes * 2 * (c.stages + c.accumulators()) +
                                tensor_address_bytes + (c.dynamic ? next : 0);
  std::int64_t const scales =
      c.block_scales ? sm100_cta::epilogue_warps * size_bytes(elem::f32) * c.tile_n : 0;
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
