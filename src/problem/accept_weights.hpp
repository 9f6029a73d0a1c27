// SPDX-License-Identifier: Apache-2.0
// accept_weights.hpp  The rules of a GEMM with prepared 4-bit weights: TW0467.
#pragma once

#include "tilewright/base/check.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

std::optional<rejection> check_weights(gemm_problem const& p);

}  // namespace tw
