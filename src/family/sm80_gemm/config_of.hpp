// SPDX-License-Identifier: Apache-2.0
// config_of.hpp  The configuration of a plan's kernel, and which GEMMs it computes.
#pragma once

#include "family/normal_form.hpp"
#include "family/sm80_gemm/instances.hpp"
#include "tilewright/family/family.hpp"

namespace tw::sm80_gemm_family {

/// Is it a plan of this family?
inline bool is_sm80_gemm(gemm_plan const& plan) {
  return plan.family != nullptr && plan.family->id() == "sm80_gemm";
}

/// The kernel of a plan of this family.
inline sm80_config const& config_of(gemm_plan const& plan) {
  return instances()[static_cast<std::size_t>(plan.instance)].config;
}

/// Does a kernel with this configuration compute `q`, as run? Sums in f16 need the problem's
/// consent. D is row-major: else the problem is run transposed, which one with a gate cannot be.
inline bool computes(sm80_config const& c, gemm_problem const& q) {
  return c.ab == q.a.type && c.ab == q.b.type && c.d == q.d.type &&
         c.a_major() == major_of_a(q.a) && c.b_major() == major_of_b(q.b) &&
         (!c.f16_sums || q.precision.f16_sums) && q.d.ord == order::row_major &&
         operands_needed(q) == c.operands() && (c.by_pointers() || !q.has_pointers());
}

}  // namespace tw::sm80_gemm_family
