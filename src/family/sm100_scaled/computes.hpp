// SPDX-License-Identifier: Apache-2.0
// computes.hpp  Which GEMMs a kernel computes, as run.
#pragma once

#include "family/normal_form.hpp"
#include "family/sm100_scaled/instances.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/problem/block_result.hpp"

namespace tw::sm100_scaled_family {

/// The format of a kernel's operands.
constexpr block_format format_of(block_scaled_config const& c) {
  return !c.dense() ? block_format::mxfp8 : c.nvfp4() ? block_format::nvfp4 : block_format::mxfp4;
}

/// Has D ue8m0 in the order 32x4x4, tiles one after another along N?
inline bool scales_in_tiles(gemm_problem const& q) {
  return is_block_result(q) && q.scale_d->desc.tiled && !q.scale_d->desc.second_level;
}

/// Does a kernel with this configuration compute `q`, as run? D is row-major (else the problem is
/// run transposed), A and B are contiguous along K.
inline bool computes(block_scaled_config const& c, gemm_problem const& q) {
  return is_block_scaled(q) && c.a == q.a.type && c.b == q.b.type &&
         c.scale == scale(q, role::a)->type && c.block == scale(q, role::a)->block_k &&
         c.d == q.d.type && major_of_a(q.a) == operand_major::k &&
         major_of_b(q.b) == operand_major::k && q.d.ord == order::row_major &&
         operands_needed(q) == c.operands() && (!c.block_result() || scales_in_tiles(q));
}

}  // namespace tw::sm100_scaled_family
