// SPDX-License-Identifier: Apache-2.0
// cost.hpp  Predicted time of a Blackwell GEMM kernel on a device.
#pragma once

#include "family/tcgen05_cost.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/kernel/sm100/config.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw::sm100_gemm_family {

/// Clocks that the warps of the epilogue need to add the sums of a K block times their scales. They
/// are counts of instructions of a thread for each column of the tile: an SM serves the 128 threads
/// in a clock, with float32 arithmetic (CUDA programming guide, "Throughput of Native Arithmetic
/// Instructions": 128 results per clock for compute capability 10.0); for loads from tensor memory
/// the same is assumed.
double promotion_clocks(gemm_problem const& p, sm100_config const& c);

/// Time of problem `p`, as the kernel runs it, on `dev`.
predicted_times predict(gemm_problem const& p, sm100_config const& c, device const& dev,
                        extra_work const& extra);

}  // namespace tw::sm100_gemm_family
