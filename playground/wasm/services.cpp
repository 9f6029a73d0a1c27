// SPDX-License-Identifier: Apache-2.0
// services.cpp  Cores and crashes of a module, which runs without an operating system: instead of
//               src/emu/host/cores.cpp and src/emu/run/run_guard.cpp. A kernel that crashes or
//               never ends stops the module; the page starts another.
#include <link.h>

#include <cstdlib>
#include <new>
#include <optional>

#include "emu/machine/machine.hpp"
#include "emu/run/run_guard.hpp"
#include "tilewright/arch/emu/cores.hpp"

namespace tw::emu {

int usable_cores() { return 1; }

run_guard::run_guard(machine& m, bool catch_crashes, double time_limit_seconds)
    : m_(m),
      limit_(time_limit_seconds),
      catch_crashes_(catch_crashes),
      outer_(nullptr) {}

run_guard::~run_guard() = default;

std::optional<diagnosis> run_guard::incident() const { return std::nullopt; }

// After leave_overflowing() the caller writes its report on the fiber's stack; after
// leave_exiting() the module ends.
void run_guard::leave_overflowing() {}
void run_guard::leave_exiting(int) {}

}  // namespace tw::emu

/// The names of a module are not mangled ones. libc++abi would bring a demangler for the message of
/// an exception that nothing catches.
extern "C" char* __cxa_demangle(char const*, char*, std::size_t*, int* status) {
  if (status != nullptr) *status = -2;
  return nullptr;
}

/// A module loads no shared libraries.
extern "C" int dl_iterate_phdr(int (*)(dl_phdr_info*, std::size_t, void*), void*) { return 0; }

// operator new aligns to 16 bytes natively, as tensor maps need (TW0303); emscripten aligns to 8.
void* operator new(std::size_t bytes) {
  void* const p = std::aligned_alloc(16, (bytes + 15) / 16 * 16 + (bytes == 0 ? 16 : 0));
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
