// SPDX-License-Identifier: Apache-2.0
// staged.hpp  A D of 8 or 4 bits with scales if no kernel computes it at once: in float32 in the
//             workspace first, then quantised by another launch (gemm_plan::stage_d).
#pragma once

#include "tilewright/device/device.hpp"
#include "tilewright/dispatch/quantize.hpp"
#include "tilewright/family/plan.hpp"
#include "tilewright/kernel/quantize/block_params.hpp"

namespace tw {

/// The problem with D in float32, without scales.
gemm_problem with_staged_d(gemm_problem p);

/// The quantisation of one matrix of the batch.
struct staged_quantisation {
  quantize_problem problem;
  quantize_operands operands;
};
staged_quantisation quantisation_of(gemm_plan const& plan, gemm_operands const& given,
                                    std::int64_t batch);

/// The quantisation of a block-scaled D (problem/block_result.hpp).
block_quantize_params block_quantisation_of(gemm_plan const& plan, gemm_operands const& given,
                                            std::int64_t batch);

/// The time that this takes for a problem, microseconds: a launch for each matrix, and the bytes.
double predicted_quantise_us(gemm_problem const& p, device const& dev);

}  // namespace tw
