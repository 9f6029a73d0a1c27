// SPDX-License-Identifier: Apache-2.0
// launch_emu.hpp  Compiles kernels of the family sm90_gemm for the emulator.
#pragma once

#include "family/sm90_gemm/launchers.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"

namespace tw::sm90_gemm_family {

template <gemm_config C>
void launch_emu(int ctas, gemm_params const& p, emu::options const& o) {
  launch<gemm_sm90<C>>(ctas, p, o);
}

}  // namespace tw::sm90_gemm_family
