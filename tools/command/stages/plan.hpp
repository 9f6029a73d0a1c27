// SPDX-License-Identifier: Apache-2.0
// plan.hpp  The plan of a GEMM for one of the kernels with a record.
#pragma once

#include "tilewright/dispatch/gemm.hpp"
#include "tools/command/stages/run.hpp"

namespace tw::stages {

/// M, N and K as a problem: bf16, row-major D, A (m, k) and B (n, k) K-major.
gemm_problem problem_of(request const& r);

/// The plan of `dev` for the kernel of the request, without split-K tiles. Throws `rejected` TW0656
/// where it does not compute the problem.
gemm_plan plan_of(request const& r, gemm_operands const& o, device const& dev);

}  // namespace tw::stages
