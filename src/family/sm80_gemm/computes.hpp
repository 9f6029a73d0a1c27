// SPDX-License-Identifier: Apache-2.0
// computes.hpp  Which GEMMs a kernel computes, as run.
#pragma once

#include "family/normal_form.hpp"
#include "family/sm80_gemm/instances.hpp"
#include "tilewright/family/family.hpp"

namespace tw::sm80_gemm_family {

/// Does a kernel with this configuration compute `q`, as run? Sums in f16 need the problem's
/// consent. D is row-major: else the problem is run transposed, which one with a gate cannot be.
inline bool computes(sm80_config const& c, gemm_problem const& q) {
  return c.ab == q.a.type && c.ab == q.b.type && c.d == q.d.type &&
         c.a_major() == major_of_a(q.a) && c.b_major() == major_of_b(q.b) &&
         (!c.f16_sums || q.precision.f16_sums) && q.d.ord == order::row_major &&
         operands_needed(q) == c.operands() && (c.by_pointers() || !q.has_pointers());
}

}  // namespace tw::sm80_gemm_family
