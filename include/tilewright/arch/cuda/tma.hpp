// SPDX-License-Identifier: Apache-2.0
// tma.hpp  Bulk tensor copies between global and shared memory. One thread issues each of them.
//
// A box is dense in shared memory, innermost coordinate first, then swizzled as its map says. Boxes
// start at multiples of 128 bytes; a swizzle repeats every 8 spans (1024, 512 or 256 bytes).
#pragma once

#include "tilewright/arch/cuda/mbarrier.hpp"
#include "tilewright/arch/cuda/tma_table.hpp"

namespace tw {

/// Loads the box at `at`, with zeros outside the tensor; `landed` is credited with all its bytes.
/// PTX ISA, "cp.async.bulk.tensor".
template <int R>
TW_DEVICE void tma_load(void* smem, tensor_map const& map, mbarrier& landed, tma_coord<R> at) {
  detail::tma_load(map, smem_addr(smem), smem_addr(&landed), at);
}

/// Loads the box to the same offset of every CTA in `cta_mask` and credits the barrier there.
/// PTX ISA, "cp.async.bulk.tensor": .multicast::cluster.
template <int R>
TW_DEVICE void tma_load_multicast(void* smem, tensor_map const& map, mbarrier& landed,
                                  tma_coord<R> at, std::uint16_t cta_mask) {
  detail::tma_load_multicast(map, smem_addr(smem), smem_addr(&landed), cta_mask, at);
}

/// Stores the part of the box that lies in the tensor. PTX ISA, "cp.async.bulk.tensor".
template <int R>
TW_DEVICE void tma_store(tensor_map const& map, void const* smem, tma_coord<R> at) {
  detail::tma_store(map, smem_addr(smem), at);
}

/// Adds the box to the tensor, element by element, in the tensor's type.
/// PTX ISA, "cp.reduce.async.bulk.tensor": .add.
template <int R>
TW_DEVICE void tma_reduce_add(tensor_map const& map, void const* smem, tma_coord<R> at) {
  detail::tma_reduce_add(map, smem_addr(smem), at);
}

/// Closes the group of this thread's stores since its last commit.
/// PTX ISA, "cp.async.bulk.commit_group".
TW_DEVICE void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until all but the newest `Pending` groups have read their shared memory.
/// PTX ISA, "cp.async.bulk.wait_group": .read.
template <int Pending>
TW_DEVICE void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
/// Waits until all but the newest `Pending` groups have written the tensor.
/// PTX ISA, "cp.async.bulk.wait_group".
template <int Pending>
TW_DEVICE void tma_store_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Brings a tensor map to the cache. PTX ISA, "prefetch, prefetchu": .tensormap.
TW_DEVICE void tma_prefetch_map(tensor_map const& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

}  // namespace tw
