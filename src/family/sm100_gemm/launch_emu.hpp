// SPDX-License-Identifier: Apache-2.0
// launch_emu.hpp  Compiles kernels of the family sm100_gemm for the emulator.
#pragma once

#include "family/sm100_gemm/launchers.hpp"
#include "tilewright/kernel/sm100/gemm.hpp"

namespace tw::sm100_gemm_family {

template <sm100_config C>
void launch_emu(int ctas, sm100_params const& p, emu::options const& o) {
  launch<gemm_sm100<C>>(ctas, p, o);
}

}  // namespace tw::sm100_gemm_family
