// SPDX-License-Identifier: Apache-2.0
// guards.cpp  Counts the threads that initialise a static of a function, so that fork() can wait
//             for them. The compiler puts __cxa_guard_* around an initialisation; the linker's
//             --wrap replaces these calls, in this library, by the functions below.
#include "base/fork_safe.hpp"

extern "C" {

int __real___cxa_guard_acquire(void* guard);  // NOLINT: the linker's names
void __real___cxa_guard_release(void* guard);
void __real___cxa_guard_abort(void* guard);

/// 1: the caller initialises the static, and calls release or abort.
int __wrap___cxa_guard_acquire(void* guard) {
  tw::static_begins();
  int const mine = __real___cxa_guard_acquire(guard);
  if (mine == 0) tw::static_ends();
  return mine;
}

void __wrap___cxa_guard_release(void* guard) {
  __real___cxa_guard_release(guard);
  tw::static_ends();
}

void __wrap___cxa_guard_abort(void* guard) {
  __real___cxa_guard_abort(guard);
  tw::static_ends();
}

}  // extern "C"
