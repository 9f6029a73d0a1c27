// SPDX-License-Identifier: Apache-2.0
// launch_emu.hpp  Compiles kernels of the family gemv for the emulator.
#pragma once

#include "family/gemv/launchers.hpp"
#include "tilewright/kernel/gemv/gemv.hpp"

namespace tw::gemv_family {

template <gemv_config C>
void launch_emu(int ctas, gemv_params const& p, emu::options const& o) {
  launch<tw::gemv<C>>(ctas, p, o);
}

}  // namespace tw::gemv_family
