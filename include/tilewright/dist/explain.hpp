// SPDX-License-Identifier: Apache-2.0
// explain.hpp  The plan of a call of a group: its path and why, the acts of a rank.
#pragma once

#include "tilewright/dist/gemm.hpp"
#include "tilewright/dist/plan.hpp"

namespace tw::dist {

/// The plan of a call of dist/gemm.hpp with these arguments: the path that the call takes and why,
/// the acts of this rank, and the predicted and measured time of each path. Times are of GPUs of
/// this rank's model; for ranks in host memory, of the model call_options::device. The predicted
/// time assumes equal shards; it is NaN if the model cannot predict the path for this call. No rank
/// waits and nothing is sent; all ranks get one path if their calls are equal. to_text() writes the
/// plan in words. Throws `rejected` as the call does for its rows and its path (TW0903, TW0904,
/// TW0909), and as plan_gemm().
group_plan explain(group const& g, operation op, gemm_problem const& p, gemm_operands const& o,
                   call_options const& how = {});

}  // namespace tw::dist
