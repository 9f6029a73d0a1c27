// SPDX-License-Identifier: Apache-2.0
// no_kernel.hpp  Why no kernel computes a GEMM.
#pragma once

#include "tilewright/base/check.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// TW0471 where another device has a kernel. Else TW0414, which names the one type or order that
/// keeps the problem from every kernel, if it is one.
rejection no_kernel(gemm_problem const& p, device const& dev);

}  // namespace tw
