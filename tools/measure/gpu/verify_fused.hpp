// SPDX-License-Identifier: Apache-2.0
// verify_fused.hpp  Compares a result of a fused epilogue with its formula in float64.
#pragma once

#include "tilewright/problem/gemm.hpp"
#include "tools/measure/gpu/stopwatch.hpp"
#include "tools/measure/result.hpp"

namespace tw::bench {

/// As compare() of verify.hpp, with the bound of problem/fused_bound.hpp; sums on the device, the
/// epilogue on the host. A baseline may round x to D's type before its activation, and approximate
/// that to as many bits: 2^-7 of |x|, times what a gate multiplies, is added to its bounds. Scales
/// of D that were computed are compared too, on the rows that are compared whole.
check_result compare_fused(gemm_problem const& p, gemm_operands const& o, stopwatch& watch,
                           bool baseline);

}  // namespace tw::bench
