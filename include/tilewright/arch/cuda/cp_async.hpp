// SPDX-License-Identifier: Apache-2.0
// cp_async.hpp  Copies of 4, 8 or 16 bytes from global to shared memory that a thread does not wait
//               for.
#pragma once

#include "tilewright/arch/cuda/identity.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// Copies Bytes (4, 8 or 16; both addresses aligned to it). The bytes are this thread's after
/// cp_async_wait, and others' after a barrier that follows it. PTX ISA, "cp.async".
template <int Bytes>
TW_DEVICE void cp_async(void* smem, void const* global) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(smem_addr(smem)),
               "l"(__cvta_generic_to_global(global)), "n"(Bytes)
               : "memory");
}

/// Closes the group of this thread's cp_async since its last commit; it may be empty.
/// PTX ISA, "cp.async.commit_group".
TW_DEVICE void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until all but this thread's newest `Pending` groups have landed.
/// PTX ISA, "cp.async.wait_group / cp.async.wait_all".
template <int Pending>
TW_DEVICE void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

}  // namespace tw
