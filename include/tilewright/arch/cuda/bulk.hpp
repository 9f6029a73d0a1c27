// SPDX-License-Identifier: Apache-2.0
// bulk.hpp  Bulk copies without a tensor map: bytes that lie together. One thread issues each.
//
// Addresses and sizes are multiples of 16 bytes. Copies to shared memory complete on an mbarrier,
// as TMA loads do; those to global memory are members of bulk groups, as TMA stores are:
// tma_store_commit(), then tma_store_wait_read() or tma_store_wait().
#pragma once

#include "tilewright/arch/cuda/bulk_table.hpp"
#include "tilewright/arch/cuda/mbarrier.hpp"
#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/reduce_operand.hpp"

namespace tw {

/// Copies `bytes` bytes to shared memory; `landed` is credited with them. PTX ISA,
/// "cp.async.bulk".
template <class Target = detail::this_target>
TW_DEVICE void bulk_load(void* smem, void const* global, int bytes, mbarrier& landed) {
  detail::need_sm90<Target>();
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(smem_addr(smem)),
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(smem_addr(&landed))
      : "memory");
}

/// Copies them to the same offset of every CTA in `cta_mask` and credits the barrier there.
/// PTX ISA, "cp.async.bulk": .multicast::cluster.
template <class Target = detail::this_target>
TW_DEVICE void bulk_load_multicast(void* smem, void const* global, int bytes, mbarrier& landed,
                                   std::uint16_t cta_mask) {
  detail::need_sm90<Target>();
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1], %2, [%3], %4;" ::"r"(smem_addr(smem)),
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(smem_addr(&landed)), "h"(cta_mask)
      : "memory");
}

/// Copies `bytes` bytes of this CTA's shared memory to the place of `own` in CTA `cta`, where
/// `landed` is credited with them: that barrier also says that the source has been read. PTX ISA,
/// "cp.async.bulk", "mapa".
template <class Target = detail::this_target>
TW_DEVICE void bulk_copy_to_peer(void* own, void const* smem, int bytes, mbarrier& landed,
                                 int cta) {
  detail::need_sm90<Target>();
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
      " [%0], [%1], %2, [%3];" ::"r"(detail::peer_addr(own, cta)),
      "r"(smem_addr(smem)), "r"(bytes), "r"(detail::peer_addr(&landed, cta))
      : "memory");
}

/// Copies `bytes` bytes to global memory. PTX ISA, "cp.async.bulk".
template <class Target = detail::this_target>
TW_DEVICE void bulk_store(void* global, void const* smem, int bytes) {
  detail::need_sm90<Target>();
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(global)),
               "r"(smem_addr(smem)), "r"(bytes)
               : "memory");
}

/// Combines `count` elements of shared memory with those in global memory, each by itself, as
/// relaxed atomic operations of GPU scope do. f16 and bf16 keep subnormal numbers. PTX ISA,
/// "cp.reduce.async.bulk".
template <reduce_op Op, class T, class Target = detail::this_target>
TW_DEVICE void bulk_reduce(T* global, T const* smem, int count) {
  detail::need_sm90<Target>();
  detail::check_reduce<Op, T>();
  detail::bulk_reduce(detail::reduction<Op, detail::reduce_type_of<T>()>{},
                      __cvta_generic_to_global(global), smem_addr(smem),
                      count * static_cast<int>(sizeof(T)));
}

/// Combines `count` elements of this CTA's shared memory with those at the place of `own` in CTA
/// `cta`, each by itself, as relaxed atomic operations of cluster scope do. `landed` of that CTA is
/// credited with the bytes. PTX ISA, "cp.reduce.async.bulk", "mapa".
template <reduce_op Op, class T, class Target = detail::this_target>
TW_DEVICE void bulk_reduce_to_peer(T* own, T const* smem, int count, mbarrier& landed, int cta) {
  detail::need_sm90<Target>();
  detail::check_reduce_at_peer<Op, T>();
  detail::bulk_reduce_to_peer(detail::reduction<Op, detail::reduce_type_of<T>()>{},
                              detail::peer_addr(own, cta), smem_addr(smem),
                              count * static_cast<int>(sizeof(T)), detail::peer_addr(&landed, cta));
}

/// Brings `bytes` bytes to L2. PTX ISA, "cp.async.bulk.prefetch".
template <class Target = detail::this_target>
TW_DEVICE void bulk_prefetch(void const* global, int bytes) {
  detail::need_sm90<Target>();
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(global)),
               "r"(bytes)
               : "memory");
}

/// Brings the line of this byte to L2. PTX ISA, "prefetch, prefetchu".
TW_DEVICE void prefetch_l2(void const* global) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(global)) : "memory");
}

}  // namespace tw
