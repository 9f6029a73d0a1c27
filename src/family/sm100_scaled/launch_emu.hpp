// SPDX-License-Identifier: Apache-2.0
// launch_emu.hpp  Compiles kernels of the family sm100_scaled for the emulator.
#pragma once

#include "family/sm100_scaled/launchers.hpp"
#include "tilewright/kernel/sm100/block_scaled.hpp"

namespace tw::sm100_scaled_family {

template <block_scaled_config C>
void launch_emu(int ctas, block_scaled_params const& p, emu::options const& o) {
  launch<block_scaled_sm100<C>>(ctas, p, o);
}

}  // namespace tw::sm100_scaled_family
