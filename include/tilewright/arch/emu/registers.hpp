// SPDX-License-Identifier: Apache-2.0
// registers.hpp  Register budget and launch dependencies (emulated). PTX ISA, "setmaxnreg",
//                "griddepcontrol".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

template <int R>
TW_DEVICE void set_max_regs_inc(emu::site where = emu::site::here()) {
  emu::set_max_regs(R, true, where);
}
template <int R>
TW_DEVICE void set_max_regs_dec(emu::site where = emu::site::here()) {
  emu::set_max_regs(R, false, where);
}

TW_DEVICE constexpr bool dependent_launches() { return true; }
/// The emulator runs launches one after the other, so values are right without it too; with
/// options::pdl, what the predecessor did is known to a thread only after this call.
TW_DEVICE void grid_dependency_wait(emu::site where = emu::site::here()) {
  emu::grid_dependency_wait(where);
}
TW_DEVICE void grid_dependents_launch() {}

}  // namespace tw
