// SPDX-License-Identifier: Apache-2.0
// load.hpp  Loads of 16 bytes of global memory (emulated). PTX ISA, "ld".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

TW_DEVICE b32<4> load_16(void const* from, emu::site where = emu::site::here()) {
  b32<4> v;
  emu::load_16(from, v.r, where);
  return v;
}
TW_DEVICE b32<4> load_16_once(void const* from, emu::site where = emu::site::here()) {
  b32<4> v;
  emu::load_16(from, v.r, where);
  return v;
}

}  // namespace tw
