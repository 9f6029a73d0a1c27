// SPDX-License-Identifier: Apache-2.0
// trace_log.hpp  The recording of tw::emu::trace: each thread's synchronising operations in program
//                order, and who takes part in each round of a barrier. No times: model.cpp adds
//                them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "tilewright/arch/emu/launch.hpp"
#include "tilewright/arch/emu/trace.hpp"

namespace tw::emu {

struct thread;
struct cta_state;
struct warpgroup_state;
struct mbarrier_state;
struct group_barrier;
struct bulk_op;
struct umma_call;
struct umma_shape;

enum class act : std::uint8_t {
  wait,             // object: barrier, value: round; -1: the round before the first
  arrive,           // object: barrier, value: round
  copy,             // object: copy
  commit,           // object: warpgroup, value: group
  tensor_commit,    // of tcgen05; object: commit
  group_wait,       // object: warpgroup, value: groups that must be done
  store_wait,       // value: groups of the thread's stores that must be done
  store_read_wait,  // as store_wait, but shared memory has been read
  store_async,      // object: barrier, value: round
  matrix_store,     // value: offset in shared memory of the first of `count` in a row
  matrix_load,
  plain,         // value: offset of the first of `count` plain accesses in a row
  global_store,  // `count` plain stores to global memory in a row
  clock,         // value: index of what sm_clock returned
};

struct trace_event {
  act what;
  std::uint16_t count = 1;
  std::uint32_t object = 0;
  std::int32_t value = 0;
};

struct barrier_log {
  enum class kind : std::uint8_t { mbarrier, named, cta, cluster, warp } what = kind::mbarrier;
  int cta = 0;       // of mbarrier, named, cta and warp; of cluster the first one
  std::string name;  // "ab_landed[1]", "named barrier 2"
  struct round {
    int arrivals = 0, landings = 0;
    bool done = false;
  };
  std::vector<round> rounds;
};

struct copy_log {
  bool load = false, add = false, whole_read = false;
  int cta = 0;  // of the issuer
  std::uint32_t thread = 0;
  std::uint32_t group = 0;  // of a store
  std::uint32_t cta_mask = 0;
  std::int64_t bytes = 0;
  std::string box;  // "a[1]"
  struct landing {
    std::uint32_t barrier;
    std::int32_t round;
  };
  std::vector<landing> landings;  // of a load, one per CTA
};

/// A commit of tcgen05, and the multiplies that its thread issued since the one before.
struct commit_log {
  int cta = 0, ctas = 1;  // the first one that multiplies, and how many
  int steps = 0, m = 0, n = 0;
  std::int64_t cycles = 0;
  std::string operands;                     // "a[1], b[1]" of the first step
  std::vector<copy_log::landing> landings;  // its arrivals
};

struct group_log {
  int steps = 0, n = 0, commits = 0;
  std::int64_t cycles = 0;
  bool issued = false;
  std::string operands;  // "a[1], b[1]" of the first step
};

struct warpgroup_log {
  int cta = 0, index = 0;
  std::vector<group_log> groups;
};

struct trace_log {
  explicit trace_log(std::size_t most) : most_events(most) {}

  void begin(grid const& g, options const& o);
  void ended(bool by_fault) { faulty = by_fault; }

  // Called by the emulator (log.cpp).
  void arrive(thread const& t, cta_state const& owner, mbarrier_state const& b);
  void wait(thread const& t, mbarrier_state const& b, std::int32_t round);
  void store_async(thread const& t, cta_state const& owner, mbarrier_state const& b);
  void phase_done(cta_state const& owner, mbarrier_state const& b);
  void arrive(thread const& t, group_barrier const& b);
  void wait(thread const& t, group_barrier const& b, std::uint32_t round);
  void round_done(thread const& t, group_barrier const& b);
  std::uint32_t copy(thread const& t, bulk_op const& op);
  void landed(std::uint32_t copy_index, cta_state const& owner, mbarrier_state const& b);
  void store_wait(thread const& t, std::uint32_t groups, bool read_only);
  void commit(thread const& t, std::uint32_t group);
  void issued(warpgroup_state const& w, std::uint32_t group, std::size_t first, std::size_t last);
  void group_wait(thread const& t, std::uint32_t groups);
  void multiply(thread const& t, umma_shape const& shape, umma_call const& call);
  std::uint32_t tensor_commit(thread const& t);
  void committed(std::uint32_t commit_index, cta_state const& owner, mbarrier_state const& b);
  void access(thread const& t, act what, std::uint32_t offset);
  void clock(thread const& t, std::uint64_t reading);

  // The recording.
  grid shape;
  async_policy policy = async_policy::eager;
  std::uint64_t seed = 0;
  bool random_warps = false, faulty = false;
  std::size_t most_events, events = 0, left_out = 0;
  struct thread_log {
    std::vector<trace_event> events;
    std::string role;   // the first that it entered
    commit_log issued;  // multiplies of tcgen05 that no commit has covered yet
    bool cut = false;   // later events were left out
  };
  std::vector<thread_log> threads;  // of the grid, CTA after CTA
  std::vector<barrier_log> barriers;
  std::vector<copy_log> copies;
  std::vector<commit_log> commits;
  std::vector<warpgroup_log> warpgroups;  // of the grid
  std::vector<std::uint64_t> readings;    // of sm_clock, in the order of the run
  int groups_per_cta = 0;

 private:
  std::uint32_t id_of(cta_state const& owner, mbarrier_state const& b);
  std::uint32_t id_of(thread const& t, group_barrier const& b);
  std::uint32_t made(std::uint64_t owner, void const* b, barrier_log made);
  barrier_log::round& round_of(std::uint32_t barrier, std::uint32_t round);
  thread_log& log_of(thread const& t);
  bool add(thread const& t, trace_event e);

  struct key {
    std::uint64_t owner;
    void const* state;
    bool operator==(key const&) const = default;
  };
  struct key_hash {
    std::size_t operator()(key const& k) const {
      return std::hash<void const*>()(k.state) ^ k.owner * 0x9E3779B97F4A7C15ULL;
    }
  };
  std::unordered_map<key, std::uint32_t, key_hash> ids_;  // looked up, never walked through
};

}  // namespace tw::emu
