// SPDX-License-Identifier: Apache-2.0
// umma.hpp  The multiplies of tcgen05, its copy, and their commit. One thread issues them, chosen
//           by elect_one() in a converged warp: under another condition ptxas puts a loop around
//           each multiply. PTX ISA, "tcgen05.mma", "tcgen05.commit".
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

/// The box comes to the same offset of every CTA in `cta_mask`, and is credited to the barrier at
/// the place of `landed` in the even CTA of that CTA's pair: with .cta_group::2 the barriers of all
/// even or of all odd CTAs count, as is the barrier that the instruction names. PTX ISA,
/// "cp.async.bulk.tensor": .multicast::cluster, .cta_group::2.
template <int R, class Target = detail::this_target>
TW_DEVICE void tma_load_pair_multicast(void* smem, tensor_map const& map, mbarrier& landed,
                                       tma_coord<R> at, std::uint16_t cta_mask) {
  detail::need_sm100f<Target>();
  detail::tma_load_pair_multicast(map, smem_addr(smem),
                                  detail::peer_addr(&landed, cluster_rank() & ~1), cta_mask, at);
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
/// umma() with A in tensor memory at `a`: row m in lane m, K along the columns, K-major; 32 bits
/// of a column hold two 16-bit values or four bytes. PTX ISA, "tcgen05.mma".
template <umma_kind K, int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void umma_ts(std::uint32_t d, std::uint32_t a, umma_desc b, std::uint32_t idesc,
                       bool accumulate) {
  detail::need_sm100f<Target>();
  detail::umma_ts(detail::umma_form<K, Ctas>{}, d, a, b.bits, idesc,
                  static_cast<std::uint32_t>(accumulate));
}

/// D = A B + D, or A B, where the sum over each `Block` elements along K is multiplied by a scale
/// factor of A's row and one of B's column. The factors are in tensor memory at `sfa` and
/// `sfb`, as tmem_copy<c32x128b_x4> brings scale_factors_32_4_4 (atom/scale_factors.hpp) there;
/// `idesc`: umma_scaled_idesc, which names their place in a column. PTX ISA, "tcgen05.mma":
/// .block_scale.
template <umma_kind K, int Block, int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void umma_scaled(std::uint32_t d, umma_desc a, umma_desc b, std::uint32_t idesc,
                           std::uint32_t sfa, std::uint32_t sfb, bool accumulate) {
  detail::need_sm100f<Target>();
  static_assert(has_scale_block(K, Block),
                "[TW0313] blocks of scale factors are 32 elements, of mxf4nvf4 16 or 32");
  detail::umma_scaled(detail::umma_scaled_form<K, Block, Ctas>{}, d, a.bits, b.bits, idesc, sfa,
                      sfb, static_cast<std::uint32_t>(accumulate));
}

/// umma_scaled() with A in tensor memory at `a`, as umma_ts reads it: 32 bytes of row m in lane m,
/// in 8 columns; two elements of mxf4 and mxf4nvf4 in a byte, the first one in its low half.
/// PTX ISA, "tcgen05.mma": .block_scale.
template <umma_kind K, int Block, int Ctas = 1, class Target = detail::this_target>
TW_DEVICE void umma_scaled_ts(std::uint32_t d, std::uint32_t a, umma_desc b, std::uint32_t idesc,
                              std::uint32_t sfa, std::uint32_t sfb, bool accumulate) {
  detail::need_sm100f<Target>();
  static_assert(has_scale_block(K, Block),
                "[TW0313] blocks of scale factors are 32 elements, of mxf4nvf4 16 or 32");
  detail::umma_scaled_ts(detail::umma_scaled_form<K, Block, Ctas>{}, d, a, b.bits, idesc, sfa, sfb,
                         static_cast<std::uint32_t>(accumulate));
}

/// Shared memory to tensor memory, as arch/tensor_memory.hpp maps rows to lanes; Ctas = 2: in both
/// CTAs of the pair, each from its own shared memory. Asynchronous, one thread; multiplies that the
/// same thread issues later come after it, and a later umma_commit covers it. A copy over columns
/// that earlier multiplies read needs a commit or tcgen05_fence_before between them.
/// PTX ISA, "tcgen05.cp".
template <tmem_copy_shape S, int Ctas = 1, tmem_unpack U = tmem_unpack::none,
          class Target = detail::this_target>
TW_DEVICE void tmem_copy(std::uint32_t to, umma_desc from) {
  detail::need_sm100f<Target>();
  detail::tmem_cp(detail::tmem_copy_form<S, U, Ctas>{}, to, from.bits);
}

/// An arrive at `done` once all multiplies and copies that this thread has issued are complete; it
/// also orders them before the synchronisation, as tcgen05_fence_before does. PTX ISA,
/// "tcgen05.commit".
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
