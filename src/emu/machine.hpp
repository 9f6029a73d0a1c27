// SPDX-License-Identifier: Apache-2.0
// machine.hpp  The engine of one OS thread: live clusters, their threads (fibers), the scheduler,
//              and the queue of asynchronous work.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <chrono>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "emu/banks.hpp"
#include "emu/fiber_stack.hpp"
#include "emu/hazard/checker.hpp"
#include "emu/product.hpp"
#include "emu/trace/log.hpp"
#include "tilewright/arch/emu/launch.hpp"

namespace tw::emu {

/// Is the code of a kernel running? Only then is an ordinary access the kernel's (hook.cpp). The
/// linker keeps one copy of each inline function, so the engine may run std::vector code of a
/// kernel's unit, whose accesses are announced too: they are the engine's own.
extern thread_local constinit bool in_kernel;

/// Every function that a kernel calls begins with one. Fibers are switched inside such calls alone,
/// so the fiber that goes on finds in_kernel false and leaves its own call.
class engine_call {
 public:
  engine_call() : was_(in_kernel) { in_kernel = false; }
  ~engine_call() { in_kernel = was_; }
  engine_call(engine_call const&) = delete;
  engine_call& operator=(engine_call const&) = delete;

 private:
  bool const was_;
};

struct cluster_state;
struct cta_state;
struct warpgroup_state;
struct thread;

/// What a thread waits for, for the scheduler and for the deadlock report.
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
  finished,
};

/// An mbarrier: the state behind the handle in the shared-memory word.
struct mbarrier_state {
  std::uint32_t offset = 0;               // in the CTA's shared memory
  int count = 0, pending = 0;             // arrivals per phase, still missing
  std::int64_t tx = 0;                    // expected minus landed bytes
  std::uint32_t phase = 0;                // completed phases
  std::int64_t expected = 0, landed = 0;  // of the current phase, for the report
  site made_at;
  std::vector<thread*> waiters;
  hazard::mbarrier_face face;
};

/// Arrivals at a named barrier, the cluster barrier or a warp barrier.
struct group_barrier {
  int expected = 0, arrived = 0;
  std::uint32_t generation = 0;  // completed rounds
  site first_at;                 // where the first thread of this round came
  std::vector<thread*> waiters;
  hazard::exchange known;
};

/// One TMA copy, from issue to completion.
struct bulk_op {
  enum class kind : std::uint8_t { load, store, reduce_add } what;
  tensor_map_desc const* map;
  int at[5];
  cta_state* cta;          // whose shared memory (first CTA of a multicast: cta_mask says)
  std::uint32_t cta_mask;  // of a load: which CTAs of the cluster
  std::uint32_t smem_offset;
  std::uint32_t bar_offset;  // of a load
  thread* issuer;
  std::uint32_t group;  // of a store: the issuer's bulk group
  site where;
  std::uint32_t issue_phase[16];  // of a load: each CTA's phase when it was issued
  std::uint32_t traced_as;        // its index in the recording
};

struct thread : thread_face {
  boost::context::detail::fcontext_t context = nullptr;
  fiber_stack stack;
  cta_state* block = nullptr;
  warpgroup_state* group = nullptr;
  int warp_index = 0;  // in the machine
  wait_kind waiting = wait_kind::none;
  bool timed_out = false;  // a try_wait that returned without success
  void const* wait_object = nullptr;
  std::uint32_t wait_value = 0;  // parity, barrier id, or group number
  site wait_site;
  std::uint32_t cluster_round = 0;  // of the cluster barrier this thread arrived in
  site unpublished;  // dsmem() since the last release at cluster scope (line 0: none)
  std::uint32_t barriers_joined = 0;  // places where the lanes of a warp are together
  int open_accumulators = 0;
  std::uint32_t wgmma_steps = 0, wgmma_groups = 0;  // recorded, committed
  struct fragment {                                 // registers of A that a wgmma may still read
    std::uint32_t const* at;
    std::uint32_t value[4];
    std::uint32_t group;  // from 1
    site where, changed;  // the wgmma; an ordinary store since (line 0: none was seen)
  };
  std::vector<fragment> fragments;
  std::uint32_t register_calls = 0;                       // of set_max_regs_inc and _dec
  std::uint32_t matrix_stores = 0, matrix_loads = 0;      // stmatrix, ldmatrix calls
  std::uint32_t exchanges = 0;                            // shuffle_xor, mma_sync calls
  std::uint32_t bulk_committed = 0, bulk_known_read = 0;  // groups: committed, waited for
  std::uint32_t bulk_base = 0;                            // group of bulk_left's front
  std::deque<int> bulk_left;                              // unfinished stores per group
  site bulk_site, commit_site;  // of the last TMA store, of the last wgmma_commit
  site map_site;                // of a tensor map that it wrote and has not released
  bool map_unreleased = false;
  hazard::actor actor;
  hazard::component stores_component = 0;  // 0: none yet
  hazard::global_actor global;
  struct piece {  // of a cp.async
    std::byte* to;
    std::byte const* from;
    int bytes;
  };
  std::vector<piece> copies_open;         // since the last commit
  std::deque<std::vector<piece>> copies;  // committed groups that have not landed, in order
  std::uint32_t copies_committed = 0, copies_done = 0;  // groups
  std::uint64_t timeout_stamp = 0;  // progress of the machine at the last failed try_wait
  int timeouts = 0;                 // failed try_waits since then
};

/// 32 threads and their warp-wide operations in flight.
struct warp_state {
  std::uint32_t ready = 0;
  thread* first = nullptr;
  int threads = 0;
  group_barrier barrier;
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
  struct exchange_op {  // of shuffle_xor or mma_sync
    char const* name;
    int arrived, taken;
    site where;  // of the first lane
    warp_words given;
  };
  std::deque<exchange_op> exchanges;
  std::uint32_t exchanges_base = 0;
  std::vector<thread*> exchange_waiters;
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
    alignas(64) float value[64 * 256];  // 64 x N, column-major
    accumulator_state of_thread[128];
  };
  std::vector<std::unique_ptr<tile>> tiles;  // accumulators, by order of construction
  struct register_call {
    int registers;
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
  group_barrier named[16];
  std::vector<acquired_map> acquired_maps;
};

struct cluster_state {
  std::unique_ptr<hazard::checker> check;  // null: hazards are not checked; outlives its clocks
  int id = -1;                             // -1: idle
  int live_threads = 0;
  bool finished = false;  // all threads have exited; the machine may reuse it
  int first_warp = 0;
  std::vector<cta_state> ctas;
  group_barrier barrier;
  std::unique_ptr<std::byte[]> smem_store, stack_store;
};

/// What a rule was broken on.
struct about {
  std::string object = {};
  std::int64_t phase = -1;  // of an mbarrier
  site earlier = {};
  thread const* by = nullptr;  // null: who is running
};

class machine {
 public:
  /// Runs clusters handed out by `next` (a negative number: no more) until all are done.
  /// Returns the diagnoses; the first one stops the run.
  std::vector<diagnosis> run(grid const& g, void const* params, options const& o,
                             std::function<int()> const& next, int live, std::uint64_t seed,
                             std::function<void(double)> const& macs_done,
                             hazard::global_memory* memory, bool alone);

  static machine& current();

  // Scheduling (machine.cpp)
  void block(wait_kind kind, void const* object, std::uint32_t value, site where);
  void yield(site where);
  void wake(thread* t);
  void wake_all(std::vector<thread*>& waiters);
  [[noreturn]] void stop(std::string code, std::string kind, std::string text, site where = {},
                         about a = {});
  thread* running() const { return running_; }
  [[noreturn]] void exited_cta(int cta, site where);
  cta_state& peer_cta(int cta, site where);  // of the running thread
  /// An ordinary load or store of the running kernel (hook.cpp).
  void plain_access(void const* address, std::size_t bytes, bool write, site where);
  void leave_undefined(void* p, int bytes, site where);
  /// E0047 where it is not a multiple of `bytes`.
  void require_aligned(void const* address, int bytes, char const* what, site where);
  /// Where the running thread's address is neither its stack nor the emulator's own memory.
  bool is_global(void const* address) const;
  /// Registers of A whose groups have been waited for: are they what they were?
  void check_fragments(thread& t, std::uint32_t groups, site where);
  /// Null: hazards are not checked.
  hazard::global_memory* memory() const { return memory_; }
  void const* params() const { return params_; }
  bool alone() const { return alone_; }
  /// The word of an atomic operation has changed: who polls may go on.
  void progressed() { ++progress_; }
  /// Notes a hazard and runs on, or stops when there are enough of them.
  void report(diagnosis d);

  // Barriers (barriers.cpp)
  void group_arrive(group_barrier& b, int expected, bool release = true);
  void finish_round(group_barrier& b, hazard::checker* check);
  void report_early_phase(cta_state const& c, mbarrier_state const& b);
  void report_missed_phase(thread const& t, mbarrier_state const& b, std::uint32_t phase,
                           site where);
  void matrix_store(void* row, std::uint32_t const* regs, int count, bool transposed, site where);
  void matrix_load(void const* row, std::uint32_t* regs, int count, bool transposed, site where);
  void exchange(std::uint32_t const* mine, int count, char const* name, warp_words& all,
                site where);
  void warp_barrier(thread& t, site where);
  bool mbarrier_passed(void* bar, std::uint32_t parity, scope s, bool may_fail, site where);
  mbarrier_state& barrier_at(cta_state& c, void const* word, site where);
  void arrive(cta_state& c, mbarrier_state& b, arrive_order order, site where);
  void complete_if_done(cta_state& c, mbarrier_state& b);
  void store_async(cta_state& c, std::uint32_t offset, void const* value, mbarrier_state& b,
                   site where);

  // Asynchronous work (async.cpp)
  void issue(bulk_op op);
  void note_box_outside(bulk_op const& op);
  void report_other_phase(cta_state const& c, mbarrier_state const& b, bulk_op const& op);
  void issue_group(warpgroup_state& w);
  bool complete_one(bool any_order);
  void copy(void* to, void const* from, int bytes, site where);
  void commit_copies();
  void land_copies(thread& t);
  tensor_map_desc const* map_of(tensor_map const& m, site where);
  tensor_map_desc read_map(tensor_map const& m, site where);
  void acquire_map(tensor_map const& m, site where);
  [[noreturn]] void stop_at_unreleased_map(thread const& t);
  std::uint32_t offset_in_smem(cta_state& c, void const* p, std::size_t bytes, site where);

  grid grid_;
  options options_;
  trace_log* log_ = nullptr;  // null: nothing is recorded
  std::mt19937_64 random_;
  statistics counts_;
  std::unique_ptr<bank_meter> banks_;  // null: nobody asked for it

 private:
  struct run_ends {};  // thrown in run()'s own context only, never across a switch
  [[noreturn]] void leave_for_good();
  void start_cluster(cluster_state& c, int id);
  void prepare(cluster_state& c);
  void finish_thread();
  void say_who(diagnosis& d, thread const* by) const;
  thread* pick();
  thread* pick_or_stop();
  bool time_out_try_waits();
  void drain(cluster_state& c);
  void switch_to(thread* t);
  void complete(bulk_op const& op);
  void complete_group(warpgroup_state& w);
  static void thread_main(boost::context::detail::transfer_t from);

  void const* params_ = nullptr;
  std::function<int()> const* next_ = nullptr;
  std::function<void(double)> const* macs_done_ = nullptr;
  std::vector<std::unique_ptr<cluster_state>> clusters_;
  int prepared_for_threads_ = 0, prepared_for_ctas_ = 0;
  std::vector<warp_state> warps_;
  std::vector<std::uint64_t> ready_warps_;  // bitmap over warps_
  int live_clusters_ = 0;
  thread main_;  // the OS thread's own context
  thread* running_ = nullptr;
  thread* previous_ = nullptr;
  int current_warp_ = 0;
  std::vector<bulk_op> pending_ops_;
  std::vector<warpgroup_state*> pending_groups_;  // one entry per issued group, in order
  std::vector<thread*> pending_copies_;           // one entry per committed cp.async group
  hazard::global_memory* memory_ = nullptr;
  bool alone_ = true;       // no other OS thread runs clusters of this launch
  std::int64_t polls_ = 0;  // calls of backoff without progress
  std::vector<std::pair<tensor_map const*, std::unique_ptr<tensor_map_desc>>> maps_;
  std::vector<std::unique_ptr<tensor_map_desc>> acquired_descs_;
  std::vector<diagnosis> diagnoses_;
  bool stopped_ = false;
  bool landing_ = false;           // a copy lands: whoever happens to run has nothing to do with it
  std::uint64_t progress_ = 0;     // arrivals and completions so far
  std::uint64_t yield_stamp_ = 0;  // progress_ when the polling without progress began
  std::chrono::steady_clock::time_point polling_since_;
};

/// E0001: who waits where for what, and what never came, in so many printed lines (deadlock.cpp).
diagnosis deadlock_report(grid const& g,
                          std::vector<std::unique_ptr<cluster_state>> const& clusters,
                          int most_lines = 12);
std::string name_of(thread const& t);
/// The warpgroup of which t is the first thread.
std::string warpgroup_name(thread const& t);
/// A path as a reader needs it, and a line; 0: not known.
struct source_place {
  std::string file;
  int line = 0;
};
source_place place_of(site s);
std::string text_of(site s);
/// Also true of two machine addresses of one line.
bool same_place(site a, site b);
/// Of one rule at the same two places; a race has no order of them.
bool same_hazard(diagnosis const& a, diagnosis const& b);
/// A place known by the address of its machine code.
site site_of(void const* return_address);
/// "a[1]+0x20", or an offset where the kernel's shared memory has no names.
std::string object_name(grid const& g, std::uint32_t offset);
/// The same with " of CTA 3".
std::string object_name(grid const& g, cta_state const& c, std::uint32_t offset);

}  // namespace tw::emu
