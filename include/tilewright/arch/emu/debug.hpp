// SPDX-License-Identifier: Apache-2.0
// debug.hpp  Clocks, and ways to stop a kernel that has gone wrong (emulated). PTX ISA, "Special
//            Registers: %clock64", "%globaltimer", "trap".
#pragma once

#include <cstdint>

#include "tilewright/arch/emu/site.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

namespace emu {

/// 1000 more than the reading before, of any thread of this OS thread.
std::uint64_t clock_reading(site where);
[[noreturn]] void trap(site where);
[[noreturn]] void assertion_failed(char const* what, site where);

}  // namespace emu

/// Not a time: it grows with each call, so that loops which wait for it end.
TW_DEVICE std::uint64_t sm_clock(emu::site where = emu::site::here()) {
  return emu::clock_reading(where);
}
TW_DEVICE std::uint64_t global_timer_ns(emu::site where = emu::site::here()) {
  return emu::clock_reading(where);
}
TW_DEVICE void trap(emu::site where = emu::site::here()) { emu::trap(where); }
TW_DEVICE void device_assert(bool condition, char const* what = "device_assert",
                             emu::site where = emu::site::here()) {
  if (!condition) emu::assertion_failed(what, where);
}

}  // namespace tw
