// SPDX-License-Identifier: Apache-2.0
// cp_async.hpp  Copies of 4, 8 or 16 bytes from global to shared memory that a thread does not wait
//               for.
#pragma once

#include "tilewright/arch/cuda/mbarrier.hpp"
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

/// Copies `valid_bytes` bytes of global memory (0 to Bytes) and zeros after them: at 0 the
/// source is not read. PTX ISA, "cp.async": src-size.
template <int Bytes>
TW_DEVICE void cp_async(void* smem, void const* global, int valid_bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp.async copies 4, 8 or 16");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(smem_addr(smem)),
               "l"(__cvta_generic_to_global(global)), "n"(Bytes), "r"(valid_bytes)
               : "memory");
}

/// Copies 16 bytes through L2 alone, for what this SM does not read again. PTX ISA, "cp.async":
/// .cg.
TW_DEVICE void cp_async_cg(void* smem, void const* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_addr(smem)),
               "l"(__cvta_generic_to_global(global))
               : "memory");
}
/// Copies `valid_bytes` bytes of global memory (0 to 16) through L2, and zeros after them.
TW_DEVICE void cp_async_cg(void* smem, void const* global, int valid_bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(smem_addr(smem)),
               "l"(__cvta_generic_to_global(global)), "r"(valid_bytes)
               : "memory");
}

/// Arrives at `landed` when all of this thread's earlier cp_async have landed: who waits for that
/// phase sees their bytes. The phase waits for it besides the arrivals that init() announced.
/// No commit is needed. PTX ISA, "cp.async.mbarrier.arrive".
TW_DEVICE void cp_async_mbarrier_arrive(mbarrier& landed) {
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(smem_addr(&landed))
               : "memory");
}
/// Arrives as one of the arrivals that init() announced. PTX ISA, "cp.async.mbarrier.arrive":
/// .noinc.
TW_DEVICE void cp_async_mbarrier_arrive_noinc(mbarrier& landed) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(smem_addr(&landed))
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
