// SPDX-License-Identifier: Apache-2.0
// hook.cpp  Ordinary loads and stores of a kernel, seen without annotations.
//
// A kernel's unit is compiled with -fsanitize=thread, which makes the compiler call __tsan_readN or
// __tsan_writeN before each access. The program is not linked with libtsan: these functions take
// its place. The place in the source is the return address; a report looks up its line.
// Allocations of the kernel, its memcpy and calls that end the process come through the linker's
// --wrap (cmake/emulator.cmake).
#include <malloc.h>

#include <cstddef>
#include <cstdint>

#include "emu/machine/machine.hpp"
#include "emu/run/run_guard.hpp"

namespace tw::emu {

static void seen(void const* address, std::size_t bytes, bool write, bool aligned,
                 void const* from) {
  if (kernels_running.load(std::memory_order_relaxed) == 0) return;  // a harness
  if (!in_kernel) return;  // a harness, or the engine in an inline function of this unit
  engine_call const inside;
  machine::current().memory.plain_access(address, bytes, write, aligned, site_of(from));
}

/// By a function of the C library; from: null if it only writes.
static void copied(void* to, void const* from, std::size_t bytes, void const* at) {
  if (!in_kernel || bytes == 0) return;
  engine_call const inside;
  address_space& memory = machine::current().memory;
  if (from != nullptr) memory.plain_access(from, bytes, false, false, site_of(at));
  memory.plain_access(to, bytes, true, false, site_of(at));
}

static void* allocated(void* p, std::size_t bytes, void const* from) {
  if (!in_kernel || p == nullptr) return p;
  engine_call const inside;
  machine::current().memory.allocated(p, bytes, site_of(from));
  return p;
}

static void freed(void* p) {
  if (!in_kernel || p == nullptr) return;
  engine_call const inside;
  machine::current().memory.freed(p, ::malloc_usable_size(p));
}

static void exits(int status) {
  if (in_kernel) run_guard::leave_exiting(status);
}

}  // namespace tw::emu

extern "C" {

// NOLINTBEGIN: the names and types are the compilers'
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}

#define X(name, bytes, write, aligned)                                     \
  void __tsan_##name(void const* at) {                                     \
    tw::emu::seen(at, bytes, write, aligned, __builtin_return_address(0)); \
  }
X(read1, 1, false, true)
X(read2, 2, false, true)
X(read4, 4, false, true)
X(read8, 8, false, true)
X(read16, 16, false, true)
X(write1, 1, true, true)
X(write2, 2, true, true)
X(write4, 4, true, true)
X(write8, 8, true, true)
X(write16, 16, true, true)
X(unaligned_read2, 2, false, false)
X(unaligned_read4, 4, false, false)
X(unaligned_read8, 8, false, false)
X(unaligned_read16, 16, false, false)
X(unaligned_write2, 2, true, false)
X(unaligned_write4, 4, true, false)
X(unaligned_write8, 8, true, false)
X(unaligned_write16, 16, true, false)
X(volatile_read1, 1, false, true)
X(volatile_read2, 2, false, true)
X(volatile_read4, 4, false, true)
X(volatile_read8, 8, false, true)
X(volatile_read16, 16, false, true)
X(volatile_write1, 1, true, true)
X(volatile_write2, 2, true, true)
X(volatile_write4, 4, true, true)
X(volatile_write8, 8, true, true)
X(volatile_write16, 16, true, true)
#undef X

void __tsan_read_range(void const* at, std::size_t bytes) {
  tw::emu::seen(at, bytes, false, false, __builtin_return_address(0));
}
void __tsan_write_range(void const* at, std::size_t bytes) {
  tw::emu::seen(at, bytes, true, false, __builtin_return_address(0));
}

// Functions that inline code of the standard library needs: guards of static variables,
// std::atomic.
#define X(bits, type)                                                                             \
  type __tsan_atomic##bits##_load(type const volatile* at, int order) {                           \
    return __atomic_load_n(at, order);                                                            \
  }                                                                                               \
  void __tsan_atomic##bits##_store(type volatile* at, type v, int order) {                        \
    __atomic_store_n(at, v, order);                                                               \
  }                                                                                               \
  type __tsan_atomic##bits##_exchange(type volatile* at, type v, int) {                           \
    return __atomic_exchange_n(at, v, __ATOMIC_SEQ_CST);                                          \
  }                                                                                               \
  type __tsan_atomic##bits##_fetch_add(type volatile* at, type v, int) {                          \
    return __atomic_fetch_add(at, v, __ATOMIC_SEQ_CST);                                           \
  }                                                                                               \
  type __tsan_atomic##bits##_fetch_sub(type volatile* at, type v, int) {                          \
    return __atomic_fetch_sub(at, v, __ATOMIC_SEQ_CST);                                           \
  }                                                                                               \
  type __tsan_atomic##bits##_fetch_or(type volatile* at, type v, int) {                           \
    return __atomic_fetch_or(at, v, __ATOMIC_SEQ_CST);                                            \
  }                                                                                               \
  type __tsan_atomic##bits##_fetch_and(type volatile* at, type v, int) {                          \
    return __atomic_fetch_and(at, v, __ATOMIC_SEQ_CST);                                           \
  }                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_strong(type volatile* at, type* expected, type v,    \
                                                    int, int) {                                   \
    return __atomic_compare_exchange_n(at, expected, v, false, __ATOMIC_SEQ_CST,                  \
                                       __ATOMIC_SEQ_CST);                                         \
  }                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_weak(type volatile* at, type* expected, type v, int, \
                                                  int) {                                          \
    return __atomic_compare_exchange_n(at, expected, v, false, __ATOMIC_SEQ_CST,                  \
                                       __ATOMIC_SEQ_CST);                                         \
  }
X(8, std::uint8_t)
X(16, std::uint16_t)
X(32, std::uint32_t)
X(64, std::uint64_t)
#undef X
// malloc and free, operator new and delete: of bytes, of arrays, aligned, with a size.
#define X(name, parameters, bytes, arguments)                                               \
  void* __real_##name parameters;                                                           \
  void* __wrap_##name parameters {                                                          \
    return tw::emu::allocated(__real_##name arguments, bytes, __builtin_return_address(0)); \
  }
X(malloc, (std::size_t n), n, (n))
X(calloc, (std::size_t count, std::size_t size), count* size, (count, size))
X(aligned_alloc, (std::size_t alignment, std::size_t n), n, (alignment, n))
X(_Znwm, (std::size_t n), n, (n))
X(_Znam, (std::size_t n), n, (n))
X(_ZnwmSt11align_val_t, (std::size_t n, std::size_t alignment), n, (n, alignment))
X(_ZnamSt11align_val_t, (std::size_t n, std::size_t alignment), n, (n, alignment))
#undef X
#define X(name, parameters, arguments) \
  void __real_##name parameters;       \
  void __wrap_##name parameters {      \
    tw::emu::freed(p);                 \
    __real_##name arguments;           \
  }
X(free, (void* p), (p))
X(_ZdlPv, (void* p), (p))
X(_ZdaPv, (void* p), (p))
X(_ZdlPvm, (void* p, std::size_t n), (p, n))
X(_ZdaPvm, (void* p, std::size_t n), (p, n))
X(_ZdlPvSt11align_val_t, (void* p, std::size_t alignment), (p, alignment))
X(_ZdaPvSt11align_val_t, (void* p, std::size_t alignment), (p, alignment))
X(_ZdlPvmSt11align_val_t, (void* p, std::size_t n, std::size_t alignment), (p, n, alignment))
X(_ZdaPvmSt11align_val_t, (void* p, std::size_t n, std::size_t alignment), (p, n, alignment))
#undef X
void* __real_realloc(void* p, std::size_t n);
void* __wrap_realloc(void* p, std::size_t n) {
  tw::emu::freed(p);
  return tw::emu::allocated(__real_realloc(p, n), n, __builtin_return_address(0));
}

// Copies are left to the C library: tilewright_see_accesses turns off the compiler's own.
void* __real_memcpy(void* to, void const* from, std::size_t n);
void* __wrap_memcpy(void* to, void const* from, std::size_t n) {
  tw::emu::copied(to, from, n, __builtin_return_address(0));
  return __real_memcpy(to, from, n);
}
void* __real_memmove(void* to, void const* from, std::size_t n);
void* __wrap_memmove(void* to, void const* from, std::size_t n) {
  tw::emu::copied(to, from, n, __builtin_return_address(0));
  return __real_memmove(to, from, n);
}
void* __real_memset(void* to, int value, std::size_t n);
void* __wrap_memset(void* to, int value, std::size_t n) {
  tw::emu::copied(to, nullptr, n, __builtin_return_address(0));
  return __real_memset(to, value, n);
}

// clang calls these where g++ calls memcpy() and the like.
void* __tsan_memcpy(void* to, void const* from, std::size_t n) {
  tw::emu::copied(to, from, n, __builtin_return_address(0));
  return __real_memcpy(to, from, n);
}
void* __tsan_memmove(void* to, void const* from, std::size_t n) {
  tw::emu::copied(to, from, n, __builtin_return_address(0));
  return __real_memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, std::size_t n) {
  tw::emu::copied(to, nullptr, n, __builtin_return_address(0));
  return __real_memset(to, value, n);
}

#define X(name)                                 \
  [[noreturn]] void __real_##name(int);         \
  [[noreturn]] void __wrap_##name(int status) { \
    tw::emu::exits(status);                     \
    __real_##name(status);                      \
  }
X(exit)
X(_exit)
X(_Exit)
X(quick_exit)
#undef X

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
// NOLINTEND

}  // extern "C"
