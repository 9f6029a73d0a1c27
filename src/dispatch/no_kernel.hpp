// SPDX-License-Identifier: Apache-2.0
// no_kernel.hpp  Which compiled kernels can compute a product, and why none can.
#pragma once

#include "tilewright/base/check.hpp"
#include "tilewright/kernel/config.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// What the kernel's epilogue has to do for this problem (struct fusion).
int fusion_of(gemm_problem const& p);

/// Does a kernel with this configuration compute the normal form `q`?
bool computes(gemm_config const& c, gemm_problem const& q);

/// TW0414. Names the one type or order that keeps the problem from every kernel, if it is one.
rejection no_kernel(gemm_problem const& p);

}  // namespace tw
