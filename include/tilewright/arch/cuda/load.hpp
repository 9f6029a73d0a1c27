// SPDX-License-Identifier: Apache-2.0
// load.hpp  Loads of 16 bytes of global memory: by the caches as they are, or of what is read once.
#pragma once

#include <cstdint>

#include "tilewright/arch/types.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// 16 bytes at a multiple of 16. PTX ISA, "ld": ld.global.
TW_DEVICE b32<4> load_16(void const* from) {
  b32<4> v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.r[0]), "=r"(v.r[1]), "=r"(v.r[2]), "=r"(v.r[3])
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return v;
}

/// 16 bytes of memory that is read once: it takes no room in L1, L2 fetches whole lines of 128
/// bytes. Not ld.global.nc: a launch before may write that memory until grid_dependency_wait.
/// PTX ISA, "ld".
TW_DEVICE b32<4> load_16_once(void const* from) {
  b32<4> v;
  asm volatile("ld.global.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.r[0]), "=r"(v.r[1]), "=r"(v.r[2]), "=r"(v.r[3])
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return v;
}

}  // namespace tw
