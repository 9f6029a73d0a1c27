// SPDX-License-Identifier: Apache-2.0
// sync.hpp  Fences and barriers among threads (emulated).
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

TW_DEVICE void fence_proxy_async(emu::site where = emu::site::here()) {
  emu::fence_proxy_async(where);
}
TW_DEVICE void fence_proxy_async_global(emu::site where = emu::site::here()) {
  emu::fence_proxy_async_global(where);
}
TW_DEVICE void fence_proxy_async_all(emu::site where = emu::site::here()) {
  emu::fence_proxy_async(where);
  emu::fence_proxy_async_global(where);
}
TW_DEVICE void fence_mbarrier_init(emu::site where = emu::site::here()) {
  emu::fence_mbarrier_init(where);
}
TW_DEVICE void cta_sync(emu::site where = emu::site::here()) { emu::cta_sync(where); }
TW_DEVICE void warp_sync(emu::site where = emu::site::here()) { emu::warp_sync(where); }

/// id 0..15 (0 is cta_sync's), threads: a multiple of 32.
TW_DEVICE void named_barrier_sync(int id, int threads, emu::site where = emu::site::here()) {
  emu::named_barrier(id, threads, true, where);
}
TW_DEVICE void named_barrier_arrive(int id, int threads, emu::site where = emu::site::here()) {
  emu::named_barrier(id, threads, false, where);
}

TW_DEVICE void cluster_arrive(emu::site where = emu::site::here()) {
  emu::cluster_arrive(true, where);
}
TW_DEVICE void cluster_arrive_relaxed(emu::site where = emu::site::here()) {
  emu::cluster_arrive(false, where);
}
TW_DEVICE void cluster_wait(emu::site where = emu::site::here()) { emu::cluster_wait(where); }
TW_DEVICE void cluster_sync(emu::site where = emu::site::here()) {
  emu::cluster_arrive(true, where);
  emu::cluster_wait(where);
}

/// A pause inside a loop that polls global memory for another CTA's progress: others run meanwhile.
TW_DEVICE void backoff(emu::site where = emu::site::here()) { emu::backoff(where); }

}  // namespace tw
