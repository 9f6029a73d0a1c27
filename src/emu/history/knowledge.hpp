// SPDX-License-Identifier: Apache-2.0
// knowledge.hpp  Which accesses are ordered before a thread's next one: what threads hold, and what
//                barriers, mbarriers and wgmma pass on.
#pragma once

#include <cstdint>
#include <vector>

#include "emu/history/clock.hpp"
#include "emu/history/global.hpp"
#include "tilewright/arch/emu/launch.hpp"

namespace tw::emu::hazard {

/// The knowledge of a thread, and its own accesses: those up to own_fenced have passed its proxy
/// fence.
struct actor {
  clock_ref known;
  stamp own = 1, own_fenced = 0;
};

/// A thread's part in the order of global memory. Components: 0 is none yet.
struct global_actor {
  component writes = 0;        // its TMA stores, by bulk group: written, not only read
  component copies = 0;        // its cp.async groups
  component acquires = 0;      // received from other CTAs
  knowledge_ref last_taken;    // the newest release that it acquired; kept alive, so that
                               // no later release is allocated at the same address
  std::vector<released> seen;  // by relaxed loads since its last fence_acq_rel
  released fence;              // what that fence released, and how far
  clock_ref fenced_known;      // at its last fence_proxy_async_global
};

/// The order of tcgen05 operations as a thread has received it (tensor.cpp). In its clocks `before`
/// says which operations are ordered before its next one, and `fenced` which are complete.
struct tensor_actor {
  clock_ref taken;     // by tcgen05_fence_after: an earlier state of `received`
  clock_ref received;  // by waits; null: the cluster has not used tcgen05
  component ops = 0;   // its multiplies; 0: none yet
  stamp ordered = 0;   // those ordered before a synchronisation, by a fence or a commit
  stamp loads_waited = 0, loads_ordered = 0;  // of its warp
  stamp stores_waited = 0, stores_ordered = 0;
  /// The newest arrive that came before the wait for operations of its warp.
  struct early_arrive {
    stamp waited = 0, begun = 0;  // operations waited + 1 to begun were in flight at this arrive
    stamp own = 0;                // the thread's count at the arrive
  } early_loads, early_stores;
  stamp arrived = 0;  // the thread's count at its last arrive
};

/// The accesses that are ordered before a barrier, collected from the threads that arrive at it and
/// passed to the threads that leave it.
struct exchange {
  gathering in;
  clock_ref out;
  remembered<int> joins;
  gathering tensor_in;  // knowledge from tcgen05, if the cluster uses it
  clock_ref tensor_out;
  remembered<int> tensor_joins;
};

/// Of a wait for an mbarrier.
struct wait_order {
  scope reach = scope::cta;
  bool acquires = true;  // false: relaxed
};

/// Of an mbarrier.
struct mbarrier_face {
  component phases = 0;
  component stored = 0;     // the same of store_async(), for waits of cluster scope; 0: none yet
  exchange own;             // what a wait with CTA scope receives
  exchange all;             // what a wait with cluster scope receives; used if `wide`
  bool wide = false;        // a peer CTA has released at cluster scope in this phase
  clock_ref wide_out;       // of the last completed phase, if it was wide
  component maker = 0;      // the thread that ran init
  stamp made = 0;           // when
  stamp fenced = 0;         // when its fence_mbarrier_init ran; 0: not yet
  std::int64_t issued = 0;  // bytes of the loads bound to the current phase
  struct last_use {
    stamp when = 0;
    stamp arrives_in = 0;  // an arrive: its phase, plus 1
    site where;
  };
  std::vector<last_use> used;  // by thread of the cluster
  stamp counted = 0;           // the newest phase that ends after an asynchronous operation, plus 1
  char const* counts = "";     // bytes, a commit
  site counted_at;
  /// A release of CTA scope by a thread of another CTA, and what cluster scope would pass on.
  struct narrow_arrive {
    component who;
    stamp own;
    clock_ref known;
    site where;
  };
  std::vector<narrow_arrive> narrow, narrow_out;  // of the current phase, of the last one
  std::vector<std::uint32_t> seen;  // by thread: newest phase observed, plus 2; 0: none
  struct repeated_wait {
    std::uint32_t thread;
    site where;
  };
  /// The first wait of each thread for a phase whose end it had seen before. That is legal; but
  /// if a newer phase is going on or follows unseen, the thread has mistaken the parity.
  std::vector<repeated_wait> repeated;
};

/// Who issued a wgmma with which knowledge: usually one clock for all 128 threads.
struct view {
  clock_ref known;
  std::uint64_t threads[2] = {};  // of the warpgroup
};
struct step_views {
  std::vector<view> views;
  std::uint64_t issued = 0;  // in the order of the run, among loads
  stamp own_fenced[128] = {};
};

struct atomic_access {
  bool reads = false, writes = false;
  mem_order order = mem_order::relaxed;
  scope reach = scope::gpu;
};

}  // namespace tw::emu::hazard
