// SPDX-License-Identifier: Apache-2.0
// launch_emu.hpp  Compiles kernels of the family sm80_gemm for the emulator.
#pragma once

#include "family/sm80_gemm/launchers.hpp"
#include "tilewright/kernel/sm80/gemm.hpp"

namespace tw::sm80_gemm_family {

template <sm80_config C>
void launch_emu(int ctas, sm80_params const& p, emu::options const& o) {
  launch<gemm_sm80<C>>(ctas, p, o);
}

}  // namespace tw::sm80_gemm_family
