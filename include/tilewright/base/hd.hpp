// SPDX-License-Identifier: Apache-2.0
// hd.hpp  The macros of the project: where a function may run, and loop unrolling.
//
// TW_HD      a function for the host, the device and constant expressions
// TW_DEVICE  a function of a kernel: device code under nvcc, ordinary code in the emulator
// TW_UNROLL  full unrolling of the loop that follows: registers need constant indices (nvcc only;
//            the emulator has no registers to name)
// TW_NO_UNROLL  no unrolling: where copies of the loop would take registers (nvcc only)
// TW_HOST_CALL  before a TW_HD function whose call of a host function only the host reaches: nvcc
//               leaves the call out of device code, and its warning is suppressed
#pragma once

#if __cplusplus < 202002L
#error "[TW0318] Tilewright's headers need C++20: -std=c++20 (CMake: cxx_std_20)"
#endif

#ifdef __CUDACC__
#define TW_HD __host__ __device__
#define TW_DEVICE __device__ __forceinline__
#define TW_UNROLL _Pragma("unroll")
#define TW_NO_UNROLL _Pragma("unroll 1")
#define TW_UNROLL_BY_2 _Pragma("unroll 2")
#define TW_UNROLL_BY_4 _Pragma("unroll 4")
#define TW_HOST_CALL _Pragma("nv_exec_check_disable")
#else
#define TW_HD
#define TW_DEVICE inline
#define TW_UNROLL
#define TW_NO_UNROLL
#define TW_UNROLL_BY_2
#define TW_UNROLL_BY_4
#define TW_HOST_CALL
#endif

namespace tw {

/// The unit is compiled with -fsanitize=thread, so that the emulator sees its loads and stores. g++
/// says so by a macro, clang by a feature.
#if defined(__SANITIZE_THREAD__)
static constexpr bool plain_accesses_seen = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
static constexpr bool plain_accesses_seen = true;
#else
static constexpr bool plain_accesses_seen = false;
#endif
#else
static constexpr bool plain_accesses_seen = false;
#endif

}  // namespace tw
