// SPDX-License-Identifier: Apache-2.0
// explain.hpp  The plan of a call of a group: its path and why, the acts of a rank.
#pragma once

#include "tilewright/dist/gemm.hpp"
#include "tilewright/dist/plan.hpp"

namespace tw::dist {

/// The plan of a call of dist/gemm.hpp with these arguments: the path that it takes and why, the
/// acts of this rank, and the predicted and measured times of each path on GPUs like this rank's
/// (on ranks in host memory like call_options::device). to_text() has it in words. Times are of
/// rows that are divided evenly; NaN: the model does not know the path for this call. No rank waits
/// and nothing is sent; all ranks get one path if their calls are equal. Throws `rejected` as the
/// call does for its rows and its path (TW0903, TW0904, TW0909), and as plan_gemm().
group_plan explain(group const& g, operation op, gemm_problem const& p, gemm_operands const& o,
                   call_options const& how = {});

}  // namespace tw::dist
