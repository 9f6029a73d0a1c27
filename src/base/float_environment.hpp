// SPDX-License-Identifier: Apache-2.0
// float_environment.hpp  The usual floating-point environment, whatever the caller's is.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tw {

/// While it lives, the thread rounds to nearest and keeps subnormal numbers, as a GPU does.
///
/// XLA's threads, torch.set_flush_denormal() and libraries compiled with -ffast-math flush
/// subnormal numbers to zero, which changes the results of emulated kernels: a kernel that decodes
/// 4-bit weights makes subnormal numbers of them. Threads that start meanwhile inherit it.
class float_environment {
 public:
  float_environment() : before_(get()) {
    if ((before_ & others) != 0) set(before_ & ~others);
  }
  float_environment(float_environment const&) = delete;
  float_environment& operator=(float_environment const&) = delete;
  ~float_environment() {
    if ((before_ & others) != 0) set((get() & ~others) | (before_ & others));
  }

 private:
#if defined(__x86_64__)
  using word = std::uint32_t;
  static constexpr word others = 0xE040;  // MXCSR: flush to zero, rounding, subnormals are zero
  static word get() { return _mm_getcsr(); }
  static void set(word x) { _mm_setcsr(x); }
#elif defined(__aarch64__)
  using word = std::uint64_t;
  static constexpr word others = 0x1C80000;  // FPCR: flush to zero, rounding, flush f16 to zero
  static word get() {
    word x = 0;
    asm volatile("mrs %0, fpcr" : "=r"(x));
    return x;
  }
  static void set(word x) { asm volatile("msr fpcr, %0" ::"r"(x)); }
#else
  using word = std::uint32_t;
  static constexpr word others = 0;
  static word get() { return 0; }
  static void set(word) {}
#endif
  word before_;
};

}  // namespace tw
