// SPDX-License-Identifier: Apache-2.0
// quantize.hpp  The launches of kernel/quantize/quantize.hpp.
#pragma once

#include "tilewright/dispatch/quantize.hpp"
#include "tilewright/kernel/quantize/params.hpp"

namespace tw {

/// Parameters of the first launch, checked. If it is quantize_pass::amax, amax is zeroed before
/// it, and a launch with quantize_pass::values follows.
quantize_params quantize_params_of(quantize_problem const& p, quantize_operands const& o);

/// CTAs of a launch on a device with this number of SMs.
int quantize_ctas(quantize_params const& q, int sm_count);

}  // namespace tw
