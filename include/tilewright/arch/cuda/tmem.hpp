// SPDX-License-Identifier: Apache-2.0
// tmem.hpp  Tensor memory: allocation, loads and stores of registers, and the fences of tcgen05.
//           PTX ISA, "Tensorcore 5th Generation Family Instructions".
//
// All lanes of a warp execute each of these functions together, but for the fences. Ctas: 1, or 2
// where the kernel multiplies in CTA pairs: one number in all functions of a kernel.
#pragma once

#include "tilewright/arch/cuda/identity.hpp"
#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/cuda/tmem_table.hpp"

namespace tw {

/// Allocates `columns` (32, 64, 128, 256 or 512) columns of all lanes, once they are free, and
/// writes their address to *address in shared memory, which other threads read after a barrier.
/// Ctas = 2: one warp of each CTA of the pair; both get the same columns.
/// PTX ISA, "tcgen05.alloc".
template <int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void tmem_alloc(std::uint32_t* address, int columns) {
  detail::need_sm100f<Target>();
  if constexpr (Ctas == 1)
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                     smem_addr(address)),
                 "r"(columns)
                 : "memory");
  else
    asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                     smem_addr(address)),
                 "r"(columns)
                 : "memory");
}
/// Gives back what one tmem_alloc has allocated; all of it before the kernel ends.
/// PTX ISA, "tcgen05.dealloc".
template <int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void tmem_dealloc(std::uint32_t address, int columns) {
  detail::need_sm100f<Target>();
  if constexpr (Ctas == 1)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address),
                 "r"(columns)
                 : "memory");
  else
    asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(address),
                 "r"(columns)
                 : "memory");
}
/// The CTA allocates no more. PTX ISA, "tcgen05.relinquish_alloc_permit".
template <int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void tmem_relinquish() {
  detail::need_sm100f<Target>();
  if constexpr (Ctas == 1)
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
  else
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
}

/// Registers from tensor memory, as arch/tensor_memory.hpp maps them; use them after
/// tmem_wait_load. The address is the same in all lanes, and names the warp's own lanes.
/// Split: second half of l16x32bx2. PTX ISA, "tcgen05.ld".
template <tmem_shape S, int Count, int Split = 0, class Target = detail::this_target>
TW_DEVICE tmem_words<S, Count> tmem_load(std::uint32_t address) {
  detail::need_sm100f<Target>();
  tmem_words<S, Count> v;
  if constexpr (S == tmem_shape::l16x32bx2)
    detail::tmem_ld<Split>(detail::tmem_form<S, Count, false>{}, address, v.r);
  else
    detail::tmem_ld(detail::tmem_form<S, Count, false>{}, address, v.r);
  return v;
}
/// The low halves of two neighbouring columns in each register. PTX ISA, "tcgen05.ld": .pack::16b.
template <tmem_shape S, int Count, int Split = 0, class Target = detail::this_target>
TW_DEVICE tmem_words<S, Count> tmem_load_packed(std::uint32_t address) {
  detail::need_sm100f<Target>();
  tmem_words<S, Count> v;
  if constexpr (S == tmem_shape::l16x32bx2)
    detail::tmem_ld<Split>(detail::tmem_form<S, Count, true>{}, address, v.r);
  else
    detail::tmem_ld(detail::tmem_form<S, Count, true>{}, address, v.r);
  return v;
}
/// Registers to tensor memory, complete after tmem_wait_store. PTX ISA, "tcgen05.st".
template <tmem_shape S, int Count, int Split = 0, class Target = detail::this_target>
TW_DEVICE void tmem_store(std::uint32_t address, tmem_words<S, Count> const& v) {
  detail::need_sm100f<Target>();
  if constexpr (S == tmem_shape::l16x32bx2)
    detail::tmem_st<Split>(detail::tmem_form<S, Count, false>{}, address, v.r);
  else
    detail::tmem_st(detail::tmem_form<S, Count, false>{}, address, v.r);
}
/// The halves of each register to the low halves of two neighbouring columns.
/// PTX ISA, "tcgen05.st": .unpack::16b.
template <tmem_shape S, int Count, int Split = 0, class Target = detail::this_target>
TW_DEVICE void tmem_store_unpacked(std::uint32_t address, tmem_words<S, Count> const& v) {
  detail::need_sm100f<Target>();
  if constexpr (S == tmem_shape::l16x32bx2)
    detail::tmem_st<Split>(detail::tmem_form<S, Count, true>{}, address, v.r);
  else
    detail::tmem_st(detail::tmem_form<S, Count, true>{}, address, v.r);
}

/// Waits for the loads of this warp; then these registers hold what was loaded.
/// PTX ISA, "tcgen05.wait".
template <int... N, class Target = detail::this_target>
TW_DEVICE void tmem_wait_load(b32<N>&... loaded) {
  detail::need_sm100f<Target>();
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  (
      [](auto& registers) {
        TW_UNROLL
        for (auto& r : registers.r) asm volatile("" : "+r"(r)::"memory");
      }(loaded),
      ...);
}
/// Waits for the stores of this warp. PTX ISA, "tcgen05.wait".
template <class Target = detail::this_target>
TW_DEVICE void tmem_wait_store() {
  detail::need_sm100f<Target>();
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

/// Orders this thread's earlier tcgen05 operations before the synchronisation that follows: a
/// barrier or an arrive. PTX ISA, "tcgen05.fence": ::before_thread_sync.
template <class Target = detail::this_target>
TW_DEVICE void tcgen05_fence_before() {
  detail::need_sm100f<Target>();
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
/// Orders this thread's later tcgen05 operations after the synchronisation before it.
/// PTX ISA, "tcgen05.fence": ::after_thread_sync.
template <class Target = detail::this_target>
TW_DEVICE void tcgen05_fence_after() {
  detail::need_sm100f<Target>();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

}  // namespace tw
