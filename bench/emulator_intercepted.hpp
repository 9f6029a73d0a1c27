// SPDX-License-Identifier: Apache-2.0
// emulator_intercepted.hpp  A GEMM kernel whose plain loads and stores the emulator sees.
#pragma once

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/kernel/config.hpp"
#include "tilewright/kernel/params.hpp"

namespace tw::bench {

/// No kernel of the registry has 3 stages: one program holds one copy of each kernel, and the
/// registry's must stay the one that is not intercepted.
constexpr gemm_config intercepted_config{.stages = 3};

void launch_intercepted(int ctas, gemm_params const& p, emu::options const& o);
/// False in builds whose compiler cannot intercept: with the address sanitizer.
bool accesses_are_intercepted();

}  // namespace tw::bench
