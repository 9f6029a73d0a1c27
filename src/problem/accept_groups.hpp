// SPDX-License-Identifier: Apache-2.0
// accept_groups.hpp  The rules that groups of a problem must keep.
#pragma once

#include <optional>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

using refusal = std::optional<rejection>;

/// Nothing, or TW0416 for a value beyond the enumerators, TW0492 for the number or the form of the
/// groups, TW0493 for a batch or strides that do not fit them, TW0494 for an operation that
/// kernels with groups lack.
refusal check_groups(gemm_problem const& p);

}  // namespace tw
