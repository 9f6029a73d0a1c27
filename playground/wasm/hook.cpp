// SPDX-License-Identifier: Apache-2.0
// hook.cpp  Ordinary loads and stores of a kernel, instead of src/emu/hook.cpp: wasm/places.py has
//           given each call the place of the access. Allocations of a kernel are not seen.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "emu/machine/machine.hpp"

namespace tw::emu {

static void seen(void const* address, std::size_t bytes, bool write, bool aligned,
                 void const* place) {
  if (!in_kernel) return;  // a harness, or an inline function of the engine
  engine_call const inside;
  machine::current().memory.plain_access(address, bytes, write, aligned, site_of(place));
}

/// By a function of the C library; from: null if it only writes.
static void copied(void* to, void const* from, std::size_t bytes, void const* place) {
  if (!in_kernel || bytes == 0) return;
  engine_call const inside;
  address_space& memory = machine::current().memory;
  if (from != nullptr) memory.plain_access(from, bytes, false, false, site_of(place));
  memory.plain_access(to, bytes, true, false, site_of(place));
}

}  // namespace tw::emu

extern "C" {

// NOLINTBEGIN: the names and types are the compiler's
void __tsan_init() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}

#define X(name, bytes, write, aligned)                    \
  void __tsan_##name(void const* at, void const* place) { \
    tw::emu::seen(at, bytes, write, aligned, place);      \
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
#undef X

void* __tsan_memcpy(void* to, void const* from, std::size_t n, void const* place) {
  tw::emu::copied(to, from, n, place);
  return std::memcpy(to, from, n);
}
void* __tsan_memmove(void* to, void const* from, std::size_t n, void const* place) {
  tw::emu::copied(to, from, n, place);
  return std::memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, std::size_t n, void const* place) {
  tw::emu::copied(to, nullptr, n, place);
  return std::memset(to, value, n);
}

#define X(bits, type)                                                                            \
  type __tsan_atomic##bits##_load(type const volatile* at, int) { return *at; }                  \
  void __tsan_atomic##bits##_store(type volatile* at, type v, int) { *at = v; }                  \
  type __tsan_atomic##bits##_exchange(type volatile* at, type v, int) {                          \
    return __atomic_exchange_n(at, v, __ATOMIC_SEQ_CST);                                         \
  }                                                                                              \
  type __tsan_atomic##bits##_fetch_add(type volatile* at, type v, int) {                         \
    return __atomic_fetch_add(at, v, __ATOMIC_SEQ_CST);                                          \
  }                                                                                              \
  type __tsan_atomic##bits##_fetch_sub(type volatile* at, type v, int) {                         \
    return __atomic_fetch_sub(at, v, __ATOMIC_SEQ_CST);                                          \
  }                                                                                              \
  type __tsan_atomic##bits##_fetch_or(type volatile* at, type v, int) {                          \
    return __atomic_fetch_or(at, v, __ATOMIC_SEQ_CST);                                           \
  }                                                                                              \
  type __tsan_atomic##bits##_fetch_and(type volatile* at, type v, int) {                         \
    return __atomic_fetch_and(at, v, __ATOMIC_SEQ_CST);                                          \
  }                                                                                              \
  type __tsan_atomic##bits##_compare_exchange_val(type volatile* at, type expected, type v, int, \
                                                  int) {                                         \
    __atomic_compare_exchange_n(at, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
    return expected;                                                                             \
  }
X(8, std::uint8_t)
X(16, std::uint16_t)
X(32, std::uint32_t)
X(64, std::uint64_t)
#undef X
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
// NOLINTEND

}  // extern "C"
