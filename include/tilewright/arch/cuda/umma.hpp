// SPDX-License-Identifier: Apache-2.0
// umma.hpp  The multiply of tcgen05 and its commit. One thread issues them, chosen by elect_one()
//           in a converged warp: under another condition ptxas puts a loop around each multiply.
//           PTX ISA, "tcgen05.mma", "tcgen05.commit".
#pragma once

#include "tilewright/arch/cuda/mbarrier.hpp"
#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/tensor_memory.hpp"

namespace tw {

/// D = A B + D, or A B: D in tensor memory at `d`, A and B in shared memory; `idesc`: umma_idesc
/// (atom/umma_idesc.hpp). Ctas = 2: one thread of the pair for both CTAs. Complete when a barrier
/// that a later umma_commit names has completed its phase. PTX ISA, "tcgen05.mma".
template <umma_kind K, int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void umma(std::uint32_t d, umma_desc a, umma_desc b, std::uint32_t idesc,
                    bool accumulate) {
  detail::need_sm100f<Target>();
  static_assert(K == umma_kind::f16, "umma multiplies bf16 and f16");
  if constexpr (Ctas == 1)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.u32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n"
        "}" ::"r"(d),
        "l"(a.bits), "l"(b.bits), "r"(idesc), "r"(static_cast<std::uint32_t>(accumulate))
        : "memory");
  else
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.u32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;\n"
        "}" ::"r"(d),
        "l"(a.bits), "l"(b.bits), "r"(idesc), "r"(static_cast<std::uint32_t>(accumulate))
        : "memory");
}
/// The same with A in tensor memory at `a`, two 16-bit values to a column, K-major.
/// PTX ISA, "tcgen05.mma".
template <umma_kind K, int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void umma_ts(std::uint32_t d, std::uint32_t a, umma_desc b, std::uint32_t idesc,
                       bool accumulate) {
  detail::need_sm100f<Target>();
  static_assert(K == umma_kind::f16, "umma_ts multiplies bf16 and f16");
  if constexpr (Ctas == 1)
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.u32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;\n"
        "}" ::"r"(d),
        "r"(a), "l"(b.bits), "r"(idesc), "r"(static_cast<std::uint32_t>(accumulate))
        : "memory");
  else
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "setp.ne.u32 p, %4, 0;\n"
        "tcgen05.mma.cta_group::2.kind::f16 [%0], [%1], %2, %3, p;\n"
        "}" ::"r"(d),
        "r"(a), "l"(b.bits), "r"(idesc), "r"(static_cast<std::uint32_t>(accumulate))
        : "memory");
}

/// An arrive at `done` once all multiplies that this thread has issued are complete; it also orders
/// them before the synchronisation, as tcgen05_fence_before does. PTX ISA, "tcgen05.commit".
template <int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void umma_commit(mbarrier& done) {
  detail::need_sm100f<Target>();
  if constexpr (Ctas == 1)
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
            smem_addr(&done))
        : "memory");
  else
    asm volatile(
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
            smem_addr(&done))
        : "memory");
}
/// The arrive comes to this barrier in each CTA of the mask. PTX ISA, "tcgen05.commit":
/// .multicast::cluster.
template <int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void umma_commit_multicast(mbarrier& done, std::uint16_t cta_mask) {
  detail::need_sm100f<Target>();
  if constexpr (Ctas == 1)
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
        "[%0], %1;" ::"r"(smem_addr(&done)),
        "h"(cta_mask)
        : "memory");
  else
    asm volatile(
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
        "[%0], %1;" ::"r"(smem_addr(&done)),
        "h"(cta_mask)
        : "memory");
}

}  // namespace tw
