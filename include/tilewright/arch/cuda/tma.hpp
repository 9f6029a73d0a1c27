// SPDX-License-Identifier: Apache-2.0
// tma.hpp  Bulk tensor copies between global and shared memory. One thread issues each of them.
//
// A box is dense in shared memory, innermost coordinate first, then swizzled as its map says. Boxes
// start at multiples of 128 bytes; a swizzle repeats every 8 spans (1024, 512 or 256 bytes).
#pragma once

#include "tilewright/arch/cuda/mbarrier.hpp"
#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/cuda/tma_table.hpp"

namespace tw {

/// Loads the box at `at`, with zeros outside the tensor; `landed` is credited with all its bytes.
/// PTX ISA, "cp.async.bulk.tensor".
template <int R, class Target = detail::this_target>
TW_DEVICE void tma_load(void* smem, tensor_map const& map, mbarrier& landed, tma_coord<R> at) {
  detail::need_sm90<Target>();
  detail::tma_load(map, smem_addr(smem), smem_addr(&landed), at);
}

/// L2 eviction priority of an operation's lines. PTX ISA, "createpolicy".
struct l2_policy {
  std::uint64_t bits;
};
/// They make room before all others: for what is not read again soon.
TW_DEVICE l2_policy evict_first_policy() {
  l2_policy p;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p.bits));
  return p;
}
/// They make room in their turn. On an H200 that is not the same as no policy: a load with it takes
/// another way (docs/decisions/0020).
TW_DEVICE l2_policy evict_normal_policy() {
  l2_policy p;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(p.bits));
  return p;
}
/// tma_load, with a policy for L2. PTX ISA, "cp.async.bulk.tensor": .L2::cache_hint.
template <int R, class Target = detail::this_target>
TW_DEVICE void tma_load_hinted(void* smem, tensor_map const& map, mbarrier& landed, tma_coord<R> at,
                               l2_policy policy) {
  detail::need_sm90<Target>();
  detail::tma_load_hinted(map, smem_addr(smem), smem_addr(&landed), policy.bits, at);
}

/// Loads the box to the same offset of every CTA in `cta_mask` and credits the barrier there.
/// PTX ISA, "cp.async.bulk.tensor": .multicast::cluster.
template <int R, class Target = detail::this_target>
TW_DEVICE void tma_load_multicast(void* smem, tensor_map const& map, mbarrier& landed,
                                  tma_coord<R> at, std::uint16_t cta_mask) {
  detail::need_sm90<Target>();
  detail::tma_load_multicast(map, smem_addr(smem), smem_addr(&landed), cta_mask, at);
}

/// Stores the part of the box that lies in the tensor. PTX ISA, "cp.async.bulk.tensor".
template <int R, class Target = detail::this_target>
TW_DEVICE void tma_store(tensor_map const& map, void const* smem, tma_coord<R> at) {
  detail::need_sm90<Target>();
  detail::tma_store(map, smem_addr(smem), at);
}
/// tma_store, with a policy for L2. PTX ISA, "cp.async.bulk.tensor": .L2::cache_hint.
template <int R, class Target = detail::this_target>
TW_DEVICE void tma_store_hinted(tensor_map const& map, void const* smem, tma_coord<R> at,
                                l2_policy policy) {
  detail::need_sm90<Target>();
  detail::tma_store_hinted(map, smem_addr(smem), policy.bits, at);
}

/// Adds the box to the tensor, element by element, in the tensor's type.
/// PTX ISA, "cp.reduce.async.bulk.tensor": .add.
template <int R, class Target = detail::this_target>
TW_DEVICE void tma_reduce_add(tensor_map const& map, void const* smem, tma_coord<R> at) {
  detail::need_sm90<Target>();
  detail::tma_reduce_add(map, smem_addr(smem), at);
}

/// Combines the box with the tensor, element by element. The tensor's type decides: f16 and bf16
/// have add, min and max; f32 has add; s32 has these, and, or and xor. PTX ISA,
/// "cp.reduce.async.bulk.tensor".
template <reduce_op Op, int R, class Target = detail::this_target>
TW_DEVICE void tma_reduce(tensor_map const& map, void const* smem, tma_coord<R> at) {
  detail::need_sm90<Target>();
  if constexpr (Op == reduce_op::add) detail::tma_reduce_add(map, smem_addr(smem), at);
  if constexpr (Op == reduce_op::min) detail::tma_reduce_min(map, smem_addr(smem), at);
  if constexpr (Op == reduce_op::max) detail::tma_reduce_max(map, smem_addr(smem), at);
  if constexpr (Op == reduce_op::inc) detail::tma_reduce_inc(map, smem_addr(smem), at);
  if constexpr (Op == reduce_op::dec) detail::tma_reduce_dec(map, smem_addr(smem), at);
  if constexpr (Op == reduce_op::bit_and) detail::tma_reduce_and(map, smem_addr(smem), at);
  if constexpr (Op == reduce_op::bit_or) detail::tma_reduce_or(map, smem_addr(smem), at);
  if constexpr (Op == reduce_op::bit_xor) detail::tma_reduce_xor(map, smem_addr(smem), at);
}

/// Brings the box to L2; nothing waits for it. PTX ISA, "cp.async.bulk.prefetch.tensor".
template <int R, class Target = detail::this_target>
TW_DEVICE void tma_prefetch(tensor_map const& map, tma_coord<R> at) {
  detail::need_sm90<Target>();
  detail::tma_prefetch(map, at);
}

/// Closes the group of this thread's stores since its last commit.
/// PTX ISA, "cp.async.bulk.commit_group".
template <class Target = detail::this_target>
TW_DEVICE void tma_store_commit() {
  detail::need_sm90<Target>();
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until all but the newest `Pending` groups have read their shared memory.
/// PTX ISA, "cp.async.bulk.wait_group": .read.
template <int Pending, class Target = detail::this_target>
TW_DEVICE void tma_store_wait_read() {
  detail::need_sm90<Target>();
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
/// Waits until all but the newest `Pending` groups have written the tensor.
/// PTX ISA, "cp.async.bulk.wait_group".
template <int Pending, class Target = detail::this_target>
TW_DEVICE void tma_store_wait() {
  detail::need_sm90<Target>();
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Tensor maps in global memory, written by the GPU. The writer: a copy of a map, its address set,
/// tensor_map_release. The user, in another launch or after a flag: one thread of each CTA
/// tensor_map_acquire, then, after a barrier, any of its threads. Maps in a kernel's parameters
/// need none of this. CUDA C++ Programming Guide, "Encoding a Tensor Map on Device".

/// Lets a map in global memory describe the tensor at `tensor` (16-byte aligned, else the kernel
/// stops). PTX ISA, "tensormap.replace".
TW_DEVICE void tensor_map_set_address(tensor_map& map, void const* tensor) {
  if (reinterpret_cast<std::uint64_t>(tensor) % 16 != 0) __trap();
  asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(
                   __cvta_generic_to_global(&map)),
               "l"(tensor)
               : "memory");
}
/// Makes this thread's writes to tensor maps visible to threads that acquire them later.
/// PTX ISA, "membar / fence": .proxy.tensormap::generic.release.
template <class Target = detail::this_target>
TW_DEVICE void tensor_map_release() {
  detail::need_sm90<Target>();
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
}
/// TMA operations of this CTA see the map as it was released.
/// PTX ISA, "membar / fence": .proxy.tensormap::generic.acquire.
template <class Target = detail::this_target>
TW_DEVICE void tensor_map_acquire(tensor_map const& map) {
  detail::need_sm90<Target>();
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(&map) : "memory");
}

/// Brings a tensor map to the cache. PTX ISA, "prefetch, prefetchu": .tensormap.
template <class Target = detail::this_target>
TW_DEVICE void tma_prefetch_map(tensor_map const& map) {
  detail::need_sm90<Target>();
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

}  // namespace tw
