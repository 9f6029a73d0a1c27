// SPDX-License-Identifier: Apache-2.0
// invariant_check.hpp  Do rows of reproducible GEMMs have the same bits wherever they are?
#pragma once

#include "tools/check/hazards/request.hpp"

namespace tw::hazards {

/// Random reproducible GEMMs, by each kernel that serves them: of a whole a part is computed again,
/// with other M, another first row and other columns of B, and its bits are compared
/// (docs/invariance.md). The emulator adds as tensor cores do. Kernels that serve no reproducible
/// GEMM have no runs.
std::vector<kernel_result> check_invariance(request const& r);

}  // namespace tw::hazards
