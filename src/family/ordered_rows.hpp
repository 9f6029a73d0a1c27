// SPDX-License-Identifier: Apache-2.0
// ordered_rows.hpp  Plans of GEMMs of groups that gather rows: a launch before the GEMM copies the
//                   rows in order, and the kernel gathers nothing.
#pragma once

#include "family/bind.hpp"
#include "tilewright/family/plan.hpp"

namespace tw {

/// Can a launch copy the rows that groups gather in `q`, a normal form? Lines are contiguous along
/// K; a row may have scales along K or a scale in the epilogue, not both.
bool may_order_rows(gemm_problem const& q);

/// The plan copies the rows first: plan.normal describes the copies.
void order_rows(gemm_plan& plan);

/// Bytes of the copies in the workspace: rows, then scales. 0 of another plan.
struct ordered_bytes {
  std::int64_t rows = 0, scales = 0;
};
ordered_bytes ordered_bytes_of(gemm_plan const& plan);

/// Completes the form of a plan that copies the rows, to `rows` and `scales`: the launch before the
/// GEMM, and the addresses of the GEMM.
void bind_ordered_rows(gemm_plan const& plan, launch_form& f, void* rows, void* scales);

}  // namespace tw
