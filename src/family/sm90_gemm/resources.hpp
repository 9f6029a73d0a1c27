// SPDX-License-Identifier: Apache-2.0
// resources.hpp  Threads and shared memory of a GEMM kernel, from its configuration: what
//                gemm_sm90<C>::smem_bytes is for a configuration of a run.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/epilogue/d_box.hpp"

namespace tw::sm90_gemm_family {

/// The members of gemm_sm90<C>::smem in their order; tests/kernel compares both.
constexpr std::int64_t smem_bytes_of(gemm_config const& c) {
  constexpr std::int64_t mbarrier_bytes = sizeof(std::uint64_t);
  constexpr std::int64_t flags_bytes = (4 + 2) * sizeof(std::uint32_t);  // fix, touched
  constexpr int float_bytes = sizeof(float), quad_bytes = 4 * float_bytes;
  auto const up = [](std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; };
  d_box const box = d_box_of(c);
  std::int64_t const groups = c.math_warpgroups();
  std::int64_t staged = groups * staging_buffers(c) * c.d_rows() * box.cols * size_bytes(c.d);
  if (c.fused()) staged += groups * 2 * float_bytes * box.cols * (c.gates_cols() ? 2 : 1);
  if (c.finds_amax_along_m())
    staged += groups * (2 * warps_of_warpgroup + 1) * float_bytes * box.cols;
  std::int64_t bytes = up(std::int64_t{c.stages} * c.a_bytes(), swizzle_pattern_bytes) +
                       c.stages * c.b_bytes() + up(staged, swizzle_pattern_bytes);
  bytes += 2 * mbarrier_bytes * c.stages + flags_bytes;
  if (c.cluster_k > 1) {  // float32 parts of the cluster's CTAs, in quads
    std::int64_t const part =
        c.fragments() * c.part_n() / wgmma_n_step * warpgroup_threads * quad_bytes;
    bytes = up(bytes, quad_bytes) + groups * c.cluster_k * part + 2 * mbarrier_bytes * groups;
  }
  if (c.k_turns > 1)  // sums of consumers, in quads
    bytes = up(bytes, quad_bytes) +
            groups * c.k_turns * c.tile_n / wgmma_n_step * warpgroup_threads * quad_bytes;
  return up(bytes + c.scale_bytes(), swizzle_pattern_bytes);
}

inline kernel_resources resources_of(gemm_config const& c) {
  return {.cta = {.threads = warpgroup_threads * (1 + c.consumers()),
                  .registers = 0,
                  .smem_bytes = smem_bytes_of(c),
                  .cluster = c.cluster()},
          .stages = c.stages,
          .stage_bytes = c.stage_bytes(),
          .sums = c.fragments() * c.tile_n / 2};
}

}  // namespace tw::sm90_gemm_family
