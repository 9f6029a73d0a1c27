// SPDX-License-Identifier: Apache-2.0
// registers.hpp  Register budget and launch dependencies (emulated). PTX ISA, "setmaxnreg",
//                "griddepcontrol".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <int R>
TW_DEVICE void set_max_regs_inc(emu::site where = emu::site::here()) {
  emu::set_max_regs(R, where);
}
template <int R>
TW_DEVICE void set_max_regs_dec(emu::site where = emu::site::here()) {
  emu::set_max_regs(R, where);
}

/// The emulator runs launches one after the other, so the predecessor has always finished.
TW_DEVICE void grid_dependency_wait() {}
TW_DEVICE void grid_dependents_launch() {}

}  // namespace tw
