// SPDX-License-Identifier: Apache-2.0
// accept_scales.hpp  The rules that scales of A, B and D must keep: a part of accept().
#pragma once

#include <optional>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

using refusal = std::optional<rejection>;

/// Formats of problem/block_scaled.hpp: types, blocks, and what lies in a byte. TW0425, TW0453,
/// TW0475 to TW0477.
refusal check_block_scales(gemm_problem const& p);

/// Scales of A and B that are multiplied in the main loop or the epilogue. TW0425, TW0438, TW0453,
/// TW0454.
refusal check_scales(gemm_problem const& p);

/// Operands that no kernel takes beside scales of D. `result` names D in the refusal. TW0425,
/// TW0458.
refusal check_beside_result_scales(gemm_problem const& p, char const* result);

/// Scales of D: one that is given, or those that kernels compute. TW0425, TW0458.
refusal check_result_scales(gemm_problem const& p);

}  // namespace tw
