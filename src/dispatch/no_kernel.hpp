// SPDX-License-Identifier: Apache-2.0
// no_kernel.hpp  Why no kernel computes a GEMM.
#pragma once

#include "tilewright/base/check.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// TW0414. Names the one type or order that keeps the problem from every kernel, if it is one.
rejection no_kernel(gemm_problem const& p);

}  // namespace tw
