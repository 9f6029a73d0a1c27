// SPDX-License-Identifier: Apache-2.0
// statistics.hpp  How many operations of each kind an emulated run made: a rule about operations
//                 that a kernel never issues was not tested by the run.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tw::emu {

/// Counts over all threads of all CTAs; warp-wide and warpgroup-wide operations count once.
struct statistics {
  std::int64_t ctas = 0;
  std::int64_t smem_bytes = 0;                   // of a CTA
  std::int64_t cluster = 0;                      // CTAs of a cluster
  std::int64_t mbarriers = 0, init_fences = 0;   // inits, fence_mbarrier_init
  std::int64_t arrives = 0, remote_arrives = 0;  // the second: those on a peer CTA's mbarrier
  std::int64_t expected_bytes = 0;               // by expect_tx
  std::int64_t mbarrier_waits = 0, phases = 0;   // waits that passed, phases that completed
  std::int64_t tma_loads = 0, multicasts = 0, tma_load_bytes = 0;  // bytes: of each CTA they reach
  std::int64_t tma_stores = 0, tma_reductions = 0;
  std::int64_t async_stores = 0, async_store_bytes = 0;  // store_async
  std::int64_t boxes_outside = 0;  // copies that move no element of their tensor
  std::int64_t proxy_fences = 0;
  std::int64_t wgmmas = 0, wgmma_groups = 0;
  std::int64_t ummas = 0, tmem_copies = 0;           // tcgen05.mma, tcgen05.cp
  std::int64_t tmem_loads = 0, tmem_stores = 0;      // tcgen05.ld, tcgen05.st
  std::int64_t matrix_stores = 0, matrix_loads = 0;  // stmatrix, ldmatrix
  std::int64_t plain_loads = 0, plain_stores = 0;    // of shared memory
  std::int64_t barriers = 0;          // rounds of cta_sync, named barriers and warp_sync
  std::int64_t cluster_barriers = 0;  // rounds
  bool plain_accesses_seen = false;   // the kernel was compiled for them to be seen
  bool hazards = false;               // the order of accesses was checked

  void add(statistics const& o) {
    ctas += o.ctas;
    smem_bytes = std::max(smem_bytes, o.smem_bytes);
    cluster = std::max(cluster, o.cluster);
    mbarriers += o.mbarriers;
    init_fences += o.init_fences;
    arrives += o.arrives;
    remote_arrives += o.remote_arrives;
    expected_bytes += o.expected_bytes;
    mbarrier_waits += o.mbarrier_waits;
    phases += o.phases;
    tma_loads += o.tma_loads;
    multicasts += o.multicasts;
    tma_load_bytes += o.tma_load_bytes;
    tma_stores += o.tma_stores;
    tma_reductions += o.tma_reductions;
    async_stores += o.async_stores;
    async_store_bytes += o.async_store_bytes;
    boxes_outside += o.boxes_outside;
    proxy_fences += o.proxy_fences;
    wgmmas += o.wgmmas;
    wgmma_groups += o.wgmma_groups;
    ummas += o.ummas;
    tmem_copies += o.tmem_copies;
    tmem_loads += o.tmem_loads;
    tmem_stores += o.tmem_stores;
    matrix_stores += o.matrix_stores;
    matrix_loads += o.matrix_loads;
    plain_loads += o.plain_loads;
    plain_stores += o.plain_stores;
    barriers += o.barriers;
    cluster_barriers += o.cluster_barriers;
    plain_accesses_seen = plain_accesses_seen || o.plain_accesses_seen;
    hazards = hazards || o.hazards;
  }
};

}  // namespace tw::emu
