// SPDX-License-Identifier: Apache-2.0
// gate.hpp  Launches of kernels with a gate before their loads.
#pragma once

#include "family/bind.hpp"
#include "family/gate_form.hpp"
#include "tilewright/kernel/sm90/gate.hpp"

namespace tw {

/// The plan with bands of tiles that do not cross the borders of the ranks' rows, if there are any
/// that do not: a band begins when all of its rows are there.
gemm_plan in_bands_of_ranks(gemm_plan plan, gate_form const& gate);

/// Parameters of a launch of that plan, beside those without a gate.
gate_params make_gate_params(gemm_plan const& plan, launch_form const& form, gate_form const& gate,
                             target t);

}  // namespace tw
