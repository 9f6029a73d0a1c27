// SPDX-License-Identifier: Apache-2.0
// gemv.hpp  Products with few columns by the kernels of kernel/gemv.hpp: which of them can, how
//           long that should take, and the parameters of a launch.
#pragma once

#include <string>
#include <vector>

#include "dispatch/cost.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/kernel/gemv_params.hpp"

namespace tw {

struct gemv_option {
  gemm_plan plan;
  cost time;
  sharing tiles;  // groups of rows, on CTAs
};

/// The GEMV plans for base.normal, of which the other fields that do not depend on a kernel are
/// set: up to 16 columns, K-major operands by strides that can be loaded 16 bytes at a time, K a
/// multiple of 8, no fused epilogue. None where one of these is missing.
std::vector<gemv_option> gemv_options(gemm_plan const& base, device const& dev);

/// The time that the model of `dev` predicts for a GEMV plan.
double gemv_predicted_us(gemm_plan const& plan, device const& dev);

/// The parts of its prediction.
plan_terms gemv_terms(gemv_option const& x, device const& dev);

/// One line, as of the other plans.
std::string gemv_why(gemv_option const& x, std::size_t of);

/// Parameters for the plan's kernel. `q` is plan.normal. Throws `rejected` (TW0409) where A or B,
/// as run, do not begin at a multiple of 16 bytes: the plan was made for other operands.
gemv_params make_gemv_params(gemm_plan const& plan, gemm_problem const& q, gemm_operands const& o);

}  // namespace tw
