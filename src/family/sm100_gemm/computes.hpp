// SPDX-License-Identifier: Apache-2.0
// computes.hpp  Which GEMMs a kernel computes, as run.
#pragma once

#include "family/normal_form.hpp"
#include "family/result_scale.hpp"
#include "family/sm100_gemm/instances.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/problem/block_scaled.hpp"

namespace tw::sm100_gemm_family {

/// Are the scales of A or B multiplied for each block of 128 elements of K?
inline bool has_block_scales(gemm_problem const& q) { return has_scales(q) && !is_block_scaled(q); }

/// Does a kernel with this configuration compute `q`, as run? D is row-major (else the problem is
/// run transposed). Sums are float32 whatever the problem's precision allows, of all of K or of
/// each block of 128 elements that has its scales.
inline bool computes(sm100_config const& c, gemm_problem const& q) {
  return c.a.multiplied == multiplied_type(q.a.type) &&
         c.b.multiplied == multiplied_type(q.b.type) && c.d == q.d.type &&
         c.a.major == major_of_a(q.a) && c.b.major == major_of_b(q.b) &&
         q.d.ord == order::row_major && operands_needed(q) == c.operands() &&
         (!c.operands().scales || has_scales_of_row_blocks(q)) && !is_block_scaled(q) &&
         c.block_scales == has_block_scales(q) && (c.by_pointers() || !q.has_pointers());
}

}  // namespace tw::sm100_gemm_family
