// SPDX-License-Identifier: Apache-2.0
// umma.hpp  The multiply of tcgen05 and its commit. One thread issues them, chosen by elect_one()
//           in a converged warp: under another condition ptxas puts a loop around each multiply.
//           PTX ISA, "tcgen05.mma", "tcgen05.commit".
#pragma once

#include "tilewright/arch/cuda/mbarrier.hpp"
#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/cuda/tma_table.hpp"
#include "tilewright/arch/cuda/umma_table.hpp"
#include "tilewright/arch/tensor_memory.hpp"

namespace tw {

/// tma_load for a CTA pair: the box comes to this CTA, and its bytes are credited to the barrier at
/// the place of `landed` in the pair's even CTA. PTX ISA, "cp.async.bulk.tensor": .cta_group::2.
template <int R, class Target = detail::this_target>
TW_DEVICE void tma_load_pair(void* smem, tensor_map const& map, mbarrier& landed, tma_coord<R> at) {
  detail::need_sm100f<Target>();
  detail::tma_load_pair(map, smem_addr(smem), detail::peer_addr(&landed, cluster_rank() & ~1), at);
}

/// D = A B + D, or A B: D in tensor memory at `d`, A and B in shared memory; `idesc`: umma_idesc
/// (atom/umma_idesc.hpp). Ctas = 2: one thread of the pair for both CTAs. Complete when a barrier
/// that a later umma_commit names has completed its phase. PTX ISA, "tcgen05.mma".
template <umma_kind K, int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void umma(std::uint32_t d, umma_desc a, umma_desc b, std::uint32_t idesc,
                    bool accumulate) {
  detail::need_sm100f<Target>();
  detail::umma_ss(detail::umma_form<K, Ctas>{}, d, a.bits, b.bits, idesc,
                  static_cast<std::uint32_t>(accumulate));
}
/// The same with A in tensor memory at `a`: row m in lane m, K along the columns, K-major; 32 bits
/// of a column hold two 16-bit values or four bytes. PTX ISA, "tcgen05.mma".
template <umma_kind K, int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void umma_ts(std::uint32_t d, std::uint32_t a, umma_desc b, std::uint32_t idesc,
                       bool accumulate) {
  detail::need_sm100f<Target>();
  detail::umma_ts(detail::umma_form<K, Ctas>{}, d, a, b.bits, idesc,
                  static_cast<std::uint32_t>(accumulate));
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
