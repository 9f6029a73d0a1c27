// SPDX-License-Identifier: Apache-2.0
// debug.hpp  Clocks, and ways to stop a kernel that has gone wrong. printf of <cstdio> prints.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/base/hd.hpp"

// Of the CUDA runtime: prints the place and the thread, and fails the launch with cudaErrorAssert.
extern "C" __device__ void __assertfail(char const* message, char const* file, unsigned line,
                                        char const* function, std::size_t char_bytes) noexcept;

namespace tw {

/// Clock cycles of the SM. PTX ISA, "Special Registers: %clock64".
TW_DEVICE std::uint64_t sm_clock() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}
/// Nanoseconds, alike on all SMs; a step may be a microsecond. PTX ISA, "Special Registers:
/// %globaltimer".
TW_DEVICE std::uint64_t global_timer_ns() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}
/// Ends the grid with an error. PTX ISA, "trap". In the emulator E0073.
TW_DEVICE void trap() { asm volatile("trap;"); }
/// Ends the grid, and says where, unless the condition holds; not switched off by NDEBUG.
/// CUDA C++ Programming Guide, "Assertion". In the emulator E0074.
TW_DEVICE void device_assert(bool condition, char const* what = "device_assert",
                             char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!condition) __assertfail(what, file, static_cast<unsigned>(line), "a kernel", 1);
}

}  // namespace tw
