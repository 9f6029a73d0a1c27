// SPDX-License-Identifier: Apache-2.0
// state.hpp  The state of a launch that runs: threads, warps, warpgroups, CTAs,
//            clusters, and the barriers and copies between them. Data without behaviour.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

#include "emu/host/fiber.hpp"
#include "emu/host/stacks.hpp"
#include "emu/machine/checker.hpp"
#include "emu/umma/tensor_state.hpp"
#include "tilewright/arch/emu/launch.hpp"

namespace tw::emu {

struct cluster_state;
struct cta_state;
struct warpgroup_state;
struct thread;

/// The event that a thread waits for, for the scheduler and for the deadlock report.
enum class wait_kind : std::uint8_t {
  none,
  mbarrier,
  mbarrier_try,
  named_barrier,
  cluster_barrier,
  warp_barrier,
  wgmma_group,
  bulk_group,
  copy_group,
  ldmatrix,
  exchange,
  tensor_step,
  tensor_columns,
  registers,
  finished,
};

/// Threads of a cluster, by their number in it.
class thread_set {
 public:
  void add(thread const& t);
  bool holds(thread const& t) const;
  void clear() { std::fill(words_.begin(), words_.end(), 0); }

 private:
  std::vector<std::uint64_t> words_;
};

/// An mbarrier: the state of the handle in the shared-memory word.
struct mbarrier_state {
  std::uint32_t offset = 0;               // in the CTA's shared memory
  int count = 0, pending = 0;             // arrivals per phase, still missing
  std::int64_t tx = 0;                    // expected minus landed bytes
  std::uint32_t phase = 0;                // completed phases
  std::int64_t expected = 0, landed = 0;  // of the current phase, for the report
  site made_at, ended_at;                 // init, inval
  std::vector<thread*> waiters;
  // For the report of a deadlock: who has arrived in any phase, in this one; who issued its copies.
  thread_set sources, came, copiers;
  hazard::mbarrier_face face;
};

/// Arrivals at a named barrier, the cluster barrier or a warp barrier.
struct group_barrier {
  int expected = 0, arrived = 0;
  bool all =
      false;  // cta_sync, warp_sync: all the threads that have not ended take part, however many
  std::uint32_t generation = 0;  // completed rounds
  site first_at;                 // where the first thread of this round came
  std::vector<thread*> waiters;
  hazard::exchange known;
};

/// One TMA copy, from issue to completion. With bulk_load and its siblings, which lack a tensor
/// map, it is a box of bytes: `map` describes a tensor of one dimension.
struct bulk_op {
  enum class kind : std::uint8_t { load, store, reduce, to_peer, reduce_at_peer } what;
  tensor_map_desc const* map;
  std::shared_ptr<tensor_map_desc const> bytes;  // without a tensor map: what `map` points to
  reduce_op op;                                  // of a reduction
  tw::detail::reduce_type type;
  tensor_map const* map_in_global;  // null: it is a parameter of the kernel
  int at[5];
  cta_state* cta;          // whose shared memory (first CTA of a multicast: cta_mask says)
  std::uint32_t cta_mask;  // of a load: which CTAs of the cluster
  std::uint32_t smem_offset;
  std::uint32_t from_offset;  // of a copy to a peer: its source in the issuer's CTA
  std::uint32_t bar_offset;   // of a load
  bool of_launch_cancel;      // the answer to one
  bool of_pair;               // the barrier belongs to the pair's even CTA
  thread* issuer;
  std::uint32_t group;  // of a store: the issuer's bulk group
  site where;
  std::uint32_t issue_phase[16];  // of a load: each CTA's phase when it was issued
  std::uint32_t traced_as;        // its index in the recording

  /// Does it write shared memory and complete on an mbarrier there?
  bool fills_smem() const { return what == kind::load || to_peer(); }
  /// Does it read the shared memory of the issuer's CTA?
  bool to_peer() const { return what == kind::to_peer || what == kind::reduce_at_peer; }
};

/// cp_async_mbarrier_arrive, for the reports.
struct copy_arrival {
  std::uint32_t until;  // the last run of cp.async that it completes
  mbarrier_state const* at;
  bool counted;
  site where;
};
/// An arrive at a peer's barrier that orders nothing towards the peer.
struct narrow_arrive {
  std::uint32_t when = 0;
  char const* order = "";
  site where;
};

struct thread : thread_face {
  fiber context;
  cta_state* block = nullptr;
  int device = 0;  // of several (devices.hpp)
  warpgroup_state* group = nullptr;
  int warp_index = 0;  // in the machine
  wait_kind waiting = wait_kind::none;
  bool timed_out = false;  // a try_wait that returned without success
  void const* wait_object = nullptr;
  std::uint32_t wait_value = 0;  // parity, barrier id, or group number
  site wait_site;
  std::uint64_t waits_since = 0;  // the scheduler's number of the wait
  void const* polled = nullptr;   // by its last poll, at `polled_at`, after so much progress
  site polled_at;
  std::uint64_t poll_stamp = ~std::uint64_t{0};
  bool cluster_arrived = false;  // and has not waited since
  site cluster_arrived_at;
  std::uint32_t cluster_round = 0;  // of the cluster barrier this thread arrived in
  site unpublished;             // dsmem() since the last release at cluster scope (line 0: none)
  site cluster_arrive_relaxed;  // its last cluster barrier, if that was one (line 0: it was not)
  std::uint32_t barriers_joined = 0;  // places where the lanes of a warp are together
  std::uint32_t barrier_steps = 0;    // barrier instructions of the CTA or the cluster
  struct repeated_load {              // the same again and again is a poll
    void const* address = nullptr;
    int times = 0;
  };
  repeated_load plain_load, atomic_load;
  int open_accumulators = 0;
  std::uint32_t wgmma_steps = 0, wgmma_groups = 0;  // recorded, committed
  std::uint32_t wgmma_committed_steps = 0;
  site wgmma_site;   // of the last wgmma
  struct fragment {  // registers of A that a wgmma may still read
    std::uint32_t const* at;
    std::uint32_t value[4];
    std::uint32_t group;  // from 1
    site where, changed;  // the wgmma; an ordinary store since (line 0: none was seen)
  };
  std::vector<fragment> fragments;
  std::uint32_t register_calls = 0;                       // of set_max_regs_inc and _dec
  int registers = 0;                                      // set by them; 0: as launched
  std::uint32_t matrix_stores = 0, matrix_loads = 0;      // stmatrix, ldmatrix calls
  std::uint32_t bulk_committed = 0, bulk_known_read = 0;  // groups: committed, waited for
  std::uint32_t bulk_base = 0;                            // group of bulk_left's front
  std::vector<int> bulk_left;                             // unfinished stores per group
  site bulk_site, commit_site;  // of the last TMA store, of the last wgmma_commit
  site map_site;                // of a tensor map that it wrote and has not released
  bool map_unreleased = false;
  hazard::actor actor;
  hazard::component stores_component = 0;  // 0: none yet
  hazard::global_actor global;
  hazard::tensor_actor tensor;
  std::unique_ptr<tensor_thread> tensor_ops;  // null: it has issued none
  struct piece {                              // of a cp.async
    std::byte* to;
    std::byte const* from;
    int bytes, valid;  // written; read, the others are zeros
  };
  std::vector<piece> copies_open;  // since the last step
  struct copy_step {               // what closes a run of cp.async: a commit, or an arrive
    std::vector<piece> pieces;
    std::uint32_t until;              // copies_begun when it ran
    mbarrier_state* arrives_at = {};  // null: it is a group
    site where = {};
  };
  std::vector<copy_step> copies;       // steps that have not landed, in order
  std::uint32_t copies_begun = 1;      // runs of cp.async, that which is open included
  std::vector<std::uint32_t> runs_of;  // by group: the last run that belongs to it
  std::uint32_t copies_committed = 0, copies_done = 0;  // groups
  std::vector<copy_arrival> copy_arrivals;              // the newest
  narrow_arrive narrow;                                 // the last one
  std::uint64_t timeout_stamp = 0;  // progress of the machine at the last failed try_wait
  int timeouts = 0;                 // failed try_waits since then
};

inline std::size_t number_in_cluster(thread const& t) {
  return static_cast<std::size_t>(t.cluster_rank) * static_cast<std::size_t>(t.thread_count) +
         static_cast<std::size_t>(t.id);
}
inline void thread_set::add(thread const& t) {
  std::size_t const i = number_in_cluster(t);
  if (words_.size() <= i / 64) words_.resize(i / 64 + 1);
  words_[i / 64] |= std::uint64_t{1} << i % 64;
}
inline bool thread_set::holds(thread const& t) const {
  std::size_t const i = number_in_cluster(t);
  return i / 64 < words_.size() && (words_[i / 64] >> i % 64 & 1) != 0;
}

/// 32 threads and their warp-wide operations in flight.
struct warp_state {
  std::uint32_t ready = 0;
  thread* first = nullptr;
  int threads = 0, live = 0;  // lanes; those that have not ended
  group_barrier barrier;
  /// A barrier instruction of the CTA or the cluster, which is one of the whole warp.
  struct barrier_step {
    std::string_view name;
    int id, threads;
    site where;  // of the first lane
    int arrived;
  };
  std::deque<barrier_step> barrier_steps;
  std::uint32_t barrier_steps_base = 0;  // index of the first one in the deque
  struct matrix_op {
    int count = 0, arrived = 0, taken = 0;
    bool transposed = false;
    site where;  // of the first lane
    std::byte* row[32];
    std::uint32_t regs[32][4];
  };
  std::deque<matrix_op> stores, loads;
  std::uint32_t stores_base = 0, loads_base = 0;  // index of the first op in the deque
  std::vector<thread*> load_waiters;
  /// An instruction of the lanes of a mask that waits for all of them: shuffles, votes, mma_sync.
  struct exchange_op {
    exchange_op(char const* name_, std::uint32_t mask_, int words, bool all, site first)
        : name(name_),
          mask(mask_),
          count(words),
          all_must_run(all),
          where(first) {}

    char const* name;
    std::uint32_t mask;
    int count;          // words that each lane brings
    bool all_must_run;  // a lane that has ended is missing; else the other lanes go on without it
    site where;         // of the first lane
    std::uint32_t arrived = 0, waiting = 0, taken = 0;  // lanes
    bool complete = false;
    warp_words given;  // of the lanes that have arrived
  };
  std::list<exchange_op> exchanges;
  std::uint32_t ended = 0;  // lanes that have
  tensor_warp tensor;
};

/// 128 threads and their asynchronous multiplies.
struct warpgroup_state {
  cta_state* block = nullptr;
  int index = 0;  // in the CTA
  struct step {
    wgmma_call call;
    int arrived = 0;
    site where;
    std::unique_ptr<std::uint32_t[]> a_regs;  // [128][4]
    hazard::step_views views;
  };
  std::deque<step> steps;
  std::uint32_t steps_base = 0;
  struct group {
    std::uint32_t last_step = 0;  // one past
    int arrived = 0;
    site where;
  };
  std::deque<group> groups;
  std::uint32_t groups_base = 0;    // number of the first group in the deque
  std::uint32_t groups_issued = 0;  // committed by all 128 threads
  std::uint32_t groups_done = 0;
  std::vector<thread*> waiters;
  struct tile {
    alignas(64) std::byte value[4 * 64 * 256];  // 64 x N words, column-major
    accumulator_state of_thread[128];
  };
  std::vector<std::unique_ptr<tile>> tiles;  // accumulators, by order of construction
  struct register_call {
    int registers;
    bool more;  // set_max_regs_inc
    site where;
  };
  std::vector<register_call> register_calls;  // the k-th of its threads
};

/// A tensor map in global memory as it was when a thread of the CTA acquired it.
struct acquired_map {
  tensor_map const* at;
  tensor_map_desc const* desc;
  std::uint64_t words[16];
};

struct cta_state {
  cluster_state* cluster = nullptr;
  int rank = 0;
  std::byte* smem = nullptr;  // 1024-byte aligned
  int live_threads = 0;
  std::vector<thread> threads;
  std::vector<warpgroup_state> groups;
  std::deque<mbarrier_state> mbarriers;
  std::vector<bool> is_mbarrier;  // by 8 bytes of shared memory: an initialised mbarrier lies there
  group_barrier named[16];
  int free_registers = 0;  // given up by set_max_regs_dec
  std::vector<thread*> wait_for_registers;
  std::vector<acquired_map> acquired_maps;
  std::unique_ptr<tensor_memory> tensor;  // null: nothing has used it

  /// Of the pair (cta_group::2): ranks that differ in the last bit.
  int even_rank() const { return rank & ~1; }
  int peer_rank() const { return rank ^ 1; }
};

struct cluster_state {
  std::unique_ptr<hazard::checker> check;  // null: hazards are not checked; outlives its clocks
  int id = -1;                             // -1: idle
  int device = 0;
  int live_threads = 0;
  bool finished = false;  // all threads have exited; the machine may reuse it
  int first_warp = 0;
  std::vector<cta_state> ctas;
  group_barrier barrier;
  std::optional<site> saw_no_launch;  // where a failed answer to launch_cancel was read
  std::unique_ptr<std::byte[]> smem_store;
  stacks stack_store;
};

}  // namespace tw::emu
