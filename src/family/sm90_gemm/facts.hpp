// SPDX-License-Identifier: Apache-2.0
// facts.hpp  Problems that a Hopper kernel computes, for lists of kernels and random problems.
#pragma once

#include "family/sm90_gemm/computes.hpp"
#include "family/sm90_gemm/schedules.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/family/family.hpp"

namespace tw {

inline kernel_facts facts_of(gemm_config const& c) {
  kernel_facts f;
  f.ab = c.a.multiplied, f.d = c.d, f.a = c.a.major, f.b = c.b.major;
  if (c.b.multiplied != c.a.multiplied) f.b_type = c.b.multiplied;
  f.precision = {.promote_k = is_fp8(c.a.multiplied) ? c.promote_k() : gemm_precision{}.promote_k,
                 .f16_sums = c.sums == sum_form::f16};
  f.ld_step = traits_of(c.a.multiplied).k_major_only ? traits_of(c.a.multiplied).chunk() : 1;
  f.scaled = c.scaled();
  f.d_order = c.d_m ? order::col_major : order::row_major;
  f.epilogue = c.operands();
  f.groups = c.ragged;
  f.weights = c.weights();
  if (c.grouped()) f.ld_step = traits_of(c.a.multiplied).chunk();  // no copies
  f.m = {1, 400}, f.k = {1, 300};
  f.n = !c.gated()                  ? value_range{1, 600}
        : takes_scales_of_blocks(c) ? value_range{2 * c.cols_of_d(), 640, 2 * c.cols_of_d()}
                                    : value_range{16, 592, 16};
  if (c.gates_rows()) f.m = {16, 400, 16}, f.n = {1, 600};
  if (c.weights()) f.k = {c.weights().group, 5 * c.weights().block_k(), c.weights().group};
  // Groups of a contiguous extent (step_of_numbers); of K, other operands are transposed so.
  if (c.ragged == group_axis::k) f.k = {f.ld_step, 304, f.ld_step};
  if (c.ragged == group_axis::m && c.a.is_mn_major()) f.m = {f.ld_step, 400, f.ld_step};
  if (c.ragged == group_axis::n && c.b.is_mn_major()) f.n = {f.ld_step, 592, f.ld_step};
  if (c.cluster_k > 1) {  // planned for one wave of tiles with long K alone
    f.m = f.n = {1, 120};
    int const least_k = least_part_blocks * c.tile_k() * c.cluster_k;
    f.k = {least_k - 60, least_k + 300};
    f.device_sms = known_device(f.device).sm_count;
  }
  return f;
}

}  // namespace tw
