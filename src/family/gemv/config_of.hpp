// SPDX-License-Identifier: Apache-2.0
// config_of.hpp  Plans of this family, and which GEMMs a kernel computes, as run.
#pragma once

#include "family/gemv/instances.hpp"
#include "family/normal_form.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/family/family.hpp"

namespace tw::gemv_family {

/// Is it a plan of this family?
inline bool is_gemv(gemm_plan const& plan) {
  return plan.family != nullptr && plan.family->id() == "gemv";
}

/// K-major operands whose strides can be loaded 16 bytes at a time, no fused epilogue but scales.
inline bool computes(gemv_config const& c, gemm_problem const& q) {
  bool const k_major = major_of_a(q.a) == operand_major::k && major_of_b(q.b) == operand_major::k;
  bool const plain = operands_needed(q) == epilogue_operands{} || has_scales_alone(q);
  return k_major && !q.has_pointers() && plain && !has_scales(q) && c.ab == q.a.type &&
         c.ab == q.b.type && c.d == q.d.type && q.n <= c.cols && q.k % c.piece() == 0;
}

/// Groups of rows that a CTA computes at a time, of all GEMMs of the batch.
inline std::int64_t groups_of(gemv_config const& c, gemm_problem const& q) {
  return divide_up(q.m, c.cta_rows()) * q.batch;
}

}  // namespace tw::gemv_family
