// SPDX-License-Identifier: Apache-2.0
// resources.hpp  Threads and shared memory of an Ampere kernel, from its configuration: what
//                gemm_sm80<C>::smem_bytes is for a configuration of a run.
#pragma once

#include <algorithm>

#include "tilewright/arch/limits.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/kernel/sm80/config.hpp"

namespace tw::sm80_gemm_family {

/// The stages, whose memory holds the epilogue tiles of all warps later; tests/kernel compares.
constexpr std::int64_t smem_bytes_of(sm80_config const& c) {
  auto const up = [](std::int64_t bytes) {
    return (bytes + swizzle_pattern_bytes - 1) / swizzle_pattern_bytes * swizzle_pattern_bytes;
  };
  std::int64_t const line = std::int64_t{1} * size_bytes(c.ab) * c.stages * c.tile_k;
  std::int64_t const stages = up(line * c.tile_m) + up(line * c.tile_n);
  constexpr int rows = 16, gap = 8;  // sm80_epilogue
  std::int64_t const warp = std::int64_t{rows} * (c.warp_d_cols() + gap) * size_bytes(c.d);
  return std::max(stages, up(c.threads() / warp_threads * warp));
}

inline kernel_resources resources_of(sm80_config const& c) {
  return {.cta = {.threads = c.threads(), .registers = 0, .smem_bytes = smem_bytes_of(c)},
          .stages = c.stages,
          .stage_bytes = c.stage_bytes(),
          .sums = c.warp_m() * c.warp_n() / warp_threads / (c.f16_sums ? 2 : 1)};
}

}  // namespace tw::sm80_gemm_family
