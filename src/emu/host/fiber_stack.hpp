// SPDX-License-Identifier: Apache-2.0
// fiber_stack.hpp  Reports to the address sanitizer which stack the processor is on. Without the
//                  sanitizer nothing is left of it.
//
// A fiber that ends or is abandoned leaves marks of its local variables in the sanitizer's shadow
// of its stack; they are wiped before the stack serves again. The fibers of a kernel that a report
// stops are abandoned with the few strings they hold: those are not leaks.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace tw::emu {

/// A stack, as the sanitizer describes it.
struct fiber_stack {
  void const* bottom =
      nullptr;  // lowest address; the OS thread's own is recorded at the first switch
  std::size_t bytes = 0;
  void* fake = nullptr;  // the sanitizer's own, while this stack rests
};

#if defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t bytes_per_stack = 256 * 1024;  // red zones need room

inline void before_switch(fiber_stack& from, fiber_stack const& to) {
  __sanitizer_start_switch_fiber(&from.fake, to.bottom, to.bytes);
}
/// `from`: the stack that was left, whose place is recorded.
inline void after_switch(fiber_stack& now, fiber_stack& from) {
  __sanitizer_finish_switch_fiber(now.fake, &from.bottom, &from.bytes);
}
inline void wipe_stacks(void* memory, std::size_t bytes) {
  __asan_unpoison_memory_region(memory, bytes);
}
/// While it lives, allocations of this OS thread are not watched for leaks.
struct leaks_allowed {
  leaks_allowed() { __lsan_disable(); }
  ~leaks_allowed() { __lsan_enable(); }
  leaks_allowed(leaks_allowed const&) = delete;
  leaks_allowed& operator=(leaks_allowed const&) = delete;
};
#else
#if defined(__EMSCRIPTEN__)
inline constexpr std::size_t bytes_per_stack = 96 * 1024;  // playground/wasm/fiber.cpp
#elif defined(__clang__)
inline constexpr std::size_t bytes_per_stack =
    512 * 1024;  // its frames of unrolled code are larger
#else
inline constexpr std::size_t bytes_per_stack = 128 * 1024;
#endif
inline void before_switch(fiber_stack&, fiber_stack const&) {}
inline void after_switch(fiber_stack&, fiber_stack&) {}
inline void wipe_stacks(void*, std::size_t) {}
struct leaks_allowed {};
#endif

}  // namespace tw::emu
