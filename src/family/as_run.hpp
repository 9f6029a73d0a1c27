// SPDX-License-Identifier: Apache-2.0
// as_run.hpp  A problem in the form that kernels run, and which of the caller's operands it has.
#pragma once

#include "tilewright/problem/operand.hpp"

namespace tw {

struct run_form {
  gemm_problem problem;
  operand_order operands = as_given();
};

/// The form of an accepted problem: scales of A and B are row and column scales of the epilogue
/// if they fit there (problem/scale_place.hpp), K = 0 is one step over zeros (no_inner.hpp),
/// matrices of one row or column have the order that kernels prefer (problem/canonical.hpp), and a
/// batch is one GEMM if it can be (folded.hpp).
run_form as_run(gemm_problem const& p);

/// Swap-AB: D^T = B^T A^T.
run_form transposed(run_form const& f);

/// The operands of as_run(p), or of its transposed form. With K = 0 A and B are the zeros of a
/// launch: nullptr here.
operand_order operands_as_run(gemm_problem const& p, bool swapped);

}  // namespace tw
