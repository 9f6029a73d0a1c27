// SPDX-License-Identifier: Apache-2.0
// sync.hpp  Fences, and barriers among the threads of a warp, a CTA or a cluster.
#pragma once

#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// Orders this thread's earlier generic accesses to shared memory before later accesses by the
/// async proxy (TMA, wgmma). PTX ISA, "membar / fence": fence.proxy.async.
template <class Target = detail::this_target>
TW_DEVICE void fence_proxy_async() {
  detail::need_sm90<Target>();
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Orders global memory: before another thread's TMA load of what this one has written with
/// ordinary stores, ahead of the release. PTX ISA, "membar / fence": fence.proxy.async.global.
template <class Target = detail::this_target>
TW_DEVICE void fence_proxy_async_global() {
  detail::need_sm90<Target>();
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

/// Both, for shared memory of the whole cluster and global memory. PTX ISA, "membar / fence":
/// fence.proxy.async.
template <class Target = detail::this_target>
TW_DEVICE void fence_proxy_async_all() {
  detail::need_sm90<Target>();
  asm volatile("fence.proxy.async;" ::: "memory");
}

/// Makes this thread's mbarrier.init visible to the cluster, the async proxy included, together
/// with a following cluster barrier. PTX ISA, "membar / fence": fence.mbarrier_init.
template <class Target = detail::this_target>
TW_DEVICE void fence_mbarrier_init() {
  detail::need_sm90<Target>();
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Barrier 0 among all threads of the CTA. PTX ISA, "bar{.cta}, barrier{.cta}".
TW_DEVICE void cta_sync() { __syncthreads(); }
/// Barrier among all lanes of the warp. PTX ISA, "bar.warp.sync".
TW_DEVICE void warp_sync() { __syncwarp(); }

/// Waits at barrier `id` (1..15) until `threads` threads, whole warps, have arrived. All lanes of
/// a warp call it together. PTX ISA, "bar{.cta}, barrier{.cta}": bar.sync.
TW_DEVICE void named_barrier_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// Arrives at barrier `id` without waiting. PTX ISA, "bar{.cta}, barrier{.cta}": bar.arrive.
TW_DEVICE void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Arrives at the cluster's barrier; earlier writes are visible after cluster_wait.
/// PTX ISA, "barrier.cluster".
template <class Target = detail::this_target>
TW_DEVICE void cluster_arrive() {
  detail::need_sm90<Target>();
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
/// Arrives without ordering memory. PTX ISA, "barrier.cluster".
template <class Target = detail::this_target>
TW_DEVICE void cluster_arrive_relaxed() {
  detail::need_sm90<Target>();
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
/// Waits until all threads of the cluster have arrived. PTX ISA, "barrier.cluster".
template <class Target = detail::this_target>
TW_DEVICE void cluster_wait() {
  detail::need_sm90<Target>();
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
template <class Target = detail::this_target>
TW_DEVICE void cluster_sync() {
  detail::need_sm90<Target>();
  cluster_arrive<Target>();
  cluster_wait<Target>();
}

/// A pause inside a loop that polls global memory for another CTA's progress. PTX ISA, "nanosleep".
TW_DEVICE void backoff() { asm volatile("nanosleep.u32 64;" ::: "memory"); }

}  // namespace tw
