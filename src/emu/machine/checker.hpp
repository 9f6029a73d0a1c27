// SPDX-License-Identifier: Apache-2.0
// checker.hpp  The hazard model of one cluster: an access is legal only if the program guarantees
//              its order after every earlier access that it conflicts with.
//
// The verdict does not depend on the schedule that happened to run. A thread receives what others
// did from barriers (arrive: its knowledge goes in; wait: what came in goes out), from wgmma_wait
// and from tma_store_wait. An access by an asynchronous unit (TMA, wgmma) after a plain one needs a
// proxy fence besides. PTX ISA, "Memory Consistency Model", "Async proxy", "fence.proxy".
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "emu/elements/tmem_area.hpp"
#include "emu/history/global.hpp"
#include "emu/history/knowledge.hpp"
#include "emu/history/shadow.hpp"
#include "emu/history/tensor_order.hpp"
#include "tilewright/arch/emu/launch.hpp"

namespace tw::emu {
class machine;
struct cluster_state;
struct cta_state;
struct thread;
struct copy_arrival;
struct narrow_arrive;
struct mbarrier_state;
struct warpgroup_state;
struct bulk_op;
struct wgmma_call;
struct umma_call;
struct tmem_copy_call;
struct umma_shape;
struct operand_extent;
struct tensor_op;
}  // namespace tw::emu

namespace tw::emu::hazard {

/// How the copy writes shared memory; op.fills_smem().
access written_by(bulk_op const& op);

class checker {
 public:
  void start(machine& m, cluster_state& c, grid const& g, options const& o);

  // Synchronisation
  void proxy_fence(thread& t);
  void mbarrier_init_fence(thread& t);
  /// release: passes on all accesses that are ordered before the arrive. Otherwise it passes on
  /// only asynchronous operations whose completion the thread has waited for (docs/decisions/0004).
  void arrive(thread& t, exchange& x, bool release);
  void arrived(thread& t);
  void complete(exchange& x);
  void leave(thread& t, exchange& x);

  void init(thread& t, mbarrier_state& b);
  /// Something that uses the mbarrier and that the thread does not know to be over.
  struct open_use {
    std::string what;
    site where;
  };
  std::optional<open_use> unordered_use(thread const& t, mbarrier_state const& b) const;
  /// The cp.async of t up to run `until` have landed and arrive at b.
  void copies_arrived(thread& t, mbarrier_state& b, stamp until);
  void use(thread& t, cta_state& owner, mbarrier_state& b, bool by_copy, site where);
  /// The current phase of b ends only after an asynchronous operation (`what`) issued now.
  void counts(thread const& t, mbarrier_state& b, char const* what, site where);
  void arrive(thread& t, cta_state& owner, mbarrier_state& b, bool release, bool cluster_scope,
              site where);
  void phase_done(mbarrier_state& b);
  void passed(thread& t, mbarrier_state& b, wait_order order, bool peek, site where);

  /// E0034 if the thread has waited again for a phase that it had seen end: the cause of an arrive
  /// that comes too early.
  bool blame_any_stale_wait(thread const& by);

  // Accesses of shared memory
  void matrix_row(thread& t, std::uint32_t offset, bool write, site where);
  /// An ldmatrix of `count` matrices; offsets: of their rows, lane by lane.
  void matrices_loaded(thread& t, std::uint32_t const* offsets, int count, site where);
  void plain(thread& t, cta_state& owner, std::uint32_t offset, std::uint32_t bytes, bool write,
             site where);
  /// The bytes hold anything: no access may be reading them; whatever reads them later is in order.
  void undefined(thread& t, std::uint32_t offset, std::uint32_t bytes, site where);
  void load(thread& t, bulk_op& op);
  void store(thread& t, bulk_op const& op);
  void store_async(thread& t, cta_state& owner, std::uint32_t offset, std::uint32_t bytes,
                   mbarrier_state& b, site where);
  void waited_for_stores(thread& t, std::uint32_t groups, bool written);
  void copy(thread& t, std::uint32_t offset, std::uintptr_t from, std::uint32_t bytes,
            std::uint32_t valid, site where);
  void waited_for_copies(thread& t, std::uint32_t groups);
  void view_of(thread& t, step_views& v);
  void multiply(warpgroup_state& w, wgmma_call const& call, step_views const& v,
                std::uint32_t group, site where);
  void waited_for_groups(thread& t, std::uint32_t groups);
  void exits(thread& t, bool last_of_cta);

  // tcgen05 (tensor.cpp)
  void tensor_fence(thread& t, bool before);
  void tmem_waited(thread& t, bool stores, std::uint32_t count);
  /// A load or store of t's warp, the `when`th of its kind.
  void tmem_moved(thread& t, cta_state& owner, tmem_area const& a, bool store, std::uint32_t when,
                  site where);
  /// The columns hold nothing: they were allocated.
  void tmem_renewed(cta_state& owner, int first, int columns);
  void tmem_freed(thread& t, cta_state& owner, int first, int columns, site where);
  /// A warp of one CTA has allocated for its pair.
  void tmem_allocated(thread& t, site where);
  /// E0115 if a thread gives back the columns of its pair, and the peer may still use them.
  void tmem_freed_for_peer(thread& t, cta_state& peer, int first, int columns, site where);
  /// E0110 if the thread cannot know that the peer CTA of its pair has begun.
  void pair_started(thread& t, cta_state& peer, site where);
  void multiply(thread& t, umma_call const& call, umma_shape const& shape, site where);
  void tmem_copied(thread& t, tmem_copy_call const& call, site where);
  void commit(thread& t, tensor_op& op);
  void committed(thread& t, tensor_op const& op, mbarrier_state& b);

  // Global memory (global_order.cpp, global_accesses.cpp)
  void global_plain(thread& t, std::uintptr_t address, std::size_t bytes, bool write, site where);
  /// A copy engine, whose thread is t, reads or writes.
  void engine_copied(thread& t, std::uintptr_t address, std::size_t bytes, bool write, site where);
  void global_proxy_fence(thread& t);
  /// fence.acq_rel or fence.sc.
  void thread_fence(thread& t, scope s, bool sequential);
  void atomic(thread& t, std::uintptr_t address, std::size_t bytes, atomic_access const& a,
              site where);
  void shared_atomic(thread& t, cta_state& owner, std::uint32_t offset, std::uint32_t bytes,
                     atomic_access const& a, site where);
  void predecessor_done(thread& t);

 private:
  struct component_face {
    enum class kind : std::uint8_t {
      thread,
      warpgroup,
      predecessor,
      mbarrier,
      stores,
      writes,
      copies,
      acquires,
      tensor,
      tensor_loads,
      tensor_stores
    } what;
    int cta = 0;
    int index = 0;  // thread or warpgroup in the CTA; offset of an mbarrier
  };
  /// A tile that TMA brought: where its bytes come from.
  struct origin {
    bool has_map = false;  // bytes without one say nothing of an operand's rows
    int at[5] = {};
    int rank = 0;
    std::uint32_t smem_offset = 0;
    std::uint32_t row_bytes = 0;  // pitch of the box's rows in shared memory
    int rows = 0;
    int elem_bits = 16;  // in shared memory, with padding
    elem type = elem::bf16;
    bool padded = false;  // 16 elements of 4 or 6 bits in 16 bytes
    tensor_map_desc map = {};
    /// Where a byte of the box, without a swizzle, comes from.
    std::uintptr_t source(std::uint32_t smem_offset_of_byte) const;
    swizzle_mode swizzle{};
    site where;
    thread const* by = nullptr;
    std::uint64_t issued = 0;  // in the order of the run, among wgmmas
  };
  struct remote_access {
    component who;
    stamp when;
    site where;
    enum class kind : std::uint8_t {
      arrive,
      copy,          // which writes this CTA, as `written` says
      copy_to_peer,  // which reads this CTA
      plain,
      store_async,
      atomic,
      multiply
    } what;
    std::uint32_t offset = 0;  // in the shared memory of the CTA that it reaches
    int by_cta = -1;           // its issuer, in the grid
    access written = access::tma_write;
  };

  /// `owner` must not exit before it.
  void note_remote(cta_state const& owner, remote_access const& now);
  component thread_component(thread const& t) const;
  component warpgroup_component(warpgroup_state const& w) const;
  component stores_component(thread& t);
  component mbarrier_component(int cta, mbarrier_state const& b);  // a new one
  component new_component(component& of, component_face::kind what, thread const& t);
  component predecessor_component() const {
    return static_cast<component>(grid_.cluster * (threads_ + groups_));
  }
  /// Every arrive, release or not, passes on the completion of those asynchronous operations
  /// of other proxies that the thread has waited for.
  void pass_completed(thread const& t, exchange& x);
  component copies_component(thread& t);
  /// The phase has a release at cluster scope: a wait of that scope receives more.
  static void widen(mbarrier_face& f);
  /// Has a phase begun after the last one whose end the thread has seen?
  static bool has_newer_phase(mbarrier_state const& b, int thread);
  void learn(thread& t, component c, stamp s, remembered<std::uint64_t>& memory);

  enum class verdict : std::uint8_t { ordered, unordered, unfenced };
  verdict judge(actor const& a, component self, record const& earlier, bool async) const;
  verdict judge(warpgroup_state const& w, step_views const& v, record const& earlier) const;
  bool fence_concerns(record const& earlier, bool async) const;
  void access_cells(thread& t, cta_state& owner, touched at, record const& r);
  void access_bytes(thread& t, cta_state& owner, std::uint32_t offset, std::uint32_t bytes,
                    record const& r);
  void each_box_block(bulk_op const& op, std::vector<touched>& to) const;
  /// judge: the verdict on an earlier access. k_of: a load that wrote a part of the operand, and
  /// where along K.
  template <class Judge>
  void read_operand(cta_state const& owner, Judge const& judge, smem_desc d,
                    operand_extent const& extent, record const& r, thread const& by,
                    int (&k_of)[2]);
  void check_origin(cta_state const& owner, record const& written, smem_desc d, operand_major major,
                    std::uint32_t offset, int row, int column, int (&first)[3], thread const& by,
                    record const& now);

  void begin_tensor();
  void tensor_arrive(thread& t, exchange& x);
  /// Which loads and stores of its warp the thread has not waited for, if it arrives now.
  void note_arrive(thread& t) const;
  /// The tcgen05 operations of which a barrier brings knowledge, to a relaxed wait too.
  void take_tensor(thread& t, exchange& x);
  /// Which fence is missing between two tcgen05 operations that a barrier orders.
  enum class tensor_verdict : std::uint8_t { ordered, unordered, needs_before, needs_after };
  tensor_verdict judge_tensor(thread const& t, record const& now, record const& earlier) const;
  /// f(touched) for the cells of an area: 16 lanes of a column each.
  template <class F>
  static void each_cell(tmem_area const& a, F&& f);
  void tensor_access(thread const* const* threads, int count, cta_state& owner, tmem_area const& a,
                     record const& r, bool accumulates);
  /// Does the thread know that the peer CTA has allocated for the pair?
  bool has_allocated(thread const& t, cta_state const& peer) const;
  /// Threads store factors to the columns.
  void renew_factors(cta_state const& owner, int first, int columns);
  /// allocated: by the peer.
  void report_pair_freed_early(cta_state const& peer, record const& allocated, record const& freed,
                               thread const& by);
  /// use: an access of tensor memory that the other CTA of its pair gives back.
  void report_pair_freed(std::string const& place, record const& use, record const& freed,
                         thread const& by);
  std::uint16_t accumulator_tag(umma_call const& call);
  component warp_component(thread const& t, bool stores);
  void report_tensor(cta_state const& owner, touched at, std::uint64_t both, record const& earlier,
                     record const& now, thread const& by, tensor_verdict v);
  /// Scale factors and narrow operands (scale_factors.cpp).
  /// E0020 or E0103 if the operand reaches an mbarrier.
  bool blame_descriptor(cta_state const& owner, smem_desc d, operand_extent const& extent,
                        record const& r, thread const& by);
  /// The operand of a wgmma was written after the wgmma, which was committed later; by now the
  /// write is ordered before the first thread of the warpgroup.
  bool written_since(step_views const& v, record const& written, thread const& first) const;
  /// False: E0037 was reported.
  bool check_matrix(thread& t, std::uint32_t const* offsets, site where);
  void note_factors(thread const& t, cta_state& owner, umma_call const& call,
                    umma_shape const& shape, int const (&k_a)[2], int const (&k_b)[2],
                    record const& now);
  /// True if each row of the area has one factor for all blocks of K.
  bool one_factor_for_all(cta_state const& owner, tmem_area const& a, int id, int count);
  void check_narrow(thread const& t, char name, elem type, bool dense, int origin_of,
                    std::uint32_t address, record const& now);
  /// Has a warp arrived between its load or store and the wait for it, on the way to `by`?
  bool waits_late(thread const& issuer, record const& op, thread const& by) const;
  /// Two threads issue the copies of an area, or its copies and multiplies.
  bool issued_by_two(record const& earlier, record const& now, thread const& by) const;
  /// The lanes that a multiply of M = 64 leaves out.
  bool in_unused_lanes(cta_state const& owner, touched at, std::uint64_t none) const;
  /// "columns 0-63 (M = 128, N = 64)"
  std::string accumulator_text(std::uint16_t tag) const;
  void report_tensor_unwritten(cta_state const& owner, touched at, std::uint64_t none,
                               record const& now, thread const& by);
  static std::string tensor_object(cta_state const& owner, touched at, std::uint64_t cells);

  std::uint32_t global_face_of(thread const& t, component who, bool own_thread);
  void global_access(thread& t, std::uintptr_t address, std::size_t bytes, record const& r);
  void global_box(thread& t, bulk_op const& op, record r);
  void global_map(thread& t, bulk_op const& op, record r);
  struct global_conflict {
    verdict how = verdict::ordered;
    std::uintptr_t address = 0;
    record earlier;
    global_face by;
    bool by_predecessor = false;
    bool chain_broken = false;  // a launch between the two has not waited for its predecessor
    bool completed = false;     // the earlier access was waited for by its own thread
  };
  global_conflict global_note(thread& t, std::uintptr_t address, std::size_t bytes,
                              record const& given);
  stamp known_of(clock_ref const& clock, global_face const& f) const;
  verdict judge_global(thread const& t, record const& now, record const& earlier) const;
  /// Two atomic accesses that the hardware keeps apart: their scopes hold both CTAs.
  struct nearness {
    bool cta, cluster, device;  // of both: the same one?
  };
  static bool morally_strong(record const& a, record const& b, nearness of);
  /// E0132: memory of another device that is in no window.
  void check_window(thread const& t, std::uintptr_t address, std::size_t bytes, record const& now);
  void report_outside_window(thread const& t, std::uintptr_t address, int owner, record const& now);
  /// The knowledge that an atomic access takes from the word and leaves there.
  void pass_on(thread& t, atomic_word& word, atomic_access const& a, site where);
  static void leave(atomic_word& word, released const& mine);
  knowledge_ref release(thread& t);
  void acquire(thread& t, released const& from);
  bool reaches(released const& from, thread const& t, scope s) const;
  void report_global(thread const& t, global_conflict const& c, record const& now);
  std::string global_object(std::uintptr_t address) const;

  // Words (reports.cpp)
  void report(char const* code, char const* kind, std::string text, site where, site earlier,
              std::string object, thread const* by = nullptr, std::int64_t phase = -1);
  void report_conflict(cta_state const& owner, std::uint32_t offset, record const& earlier,
                       record const& now, thread const& by, verdict v);
  /// operand: the offset at which the operand begins that contains `offset`.
  void report_unwritten(cta_state const& owner, std::uint32_t offset, record const& now,
                        thread const& by, std::optional<std::uint32_t> operand = std::nullopt);
  void report_stale_phase(thread const& t, mbarrier_state const& b, site where);
  /// E0034 instead of a conflict: the thread's wait for that barrier was for an older phase.
  bool blame_stale_wait(cta_state const& owner, record const& earlier, thread const& by);
  void report_init(thread const& t, cta_state const& owner, mbarrier_state const& b, bool unfenced,
                   site where);
  /// a, b: addresses of the operands.
  void report_k_mismatch(thread const& by, int const (&k_a)[2], int const (&k_b)[2],
                         std::uint32_t a, std::uint32_t b, record const& now);
  void report_early_exit(thread const& t, remote_access const& r);
  void report_origin(char const* code, char const* kind, std::string const& what,
                     std::string const& cause, std::string const& remedy, cta_state const& owner,
                     record const& written, std::uint32_t offset, thread const& by,
                     record const& now);
  std::string name_of(component c) const;
  std::string object(cta_state const& owner, std::uint32_t offset) const;
  std::string describe(record const& r, bool with_thread) const;
  std::string actor_of(record const& r, thread const& by) const;
  /// The call that would have committed the access's group, if none has; null: one has.
  char const* missing_commit(record const& earlier) const;
  /// The cp_async_mbarrier_arrive at which a cp.async completes; null: a group, or none.
  copy_arrival const* arrival_of(record const& earlier) const;
  /// The arrive of too small a scope that followed the access, of a thread of another CTA.
  narrow_arrive const* narrow_arrive_of(record const& earlier, thread const& by) const;

  machine* machine_ = nullptr;
  cluster_state* cluster_ = nullptr;
  grid grid_;
  options options_;
  clock_pool pool_;
  int threads_ = 0, groups_ = 0;  // of a CTA
  std::vector<component_face> faces_;
  std::vector<component> stored_;  // mbarrier_face::stored of all
  /// The components of cp.async of each CTA of the cluster. A proxy fence of any thread of the CTA
  /// covers the copies that are complete for this thread.
  std::vector<std::vector<component>> copied_;
  /// Components whose completion a thread passes on only by an arrive with release: cp.async,
  /// store_async, and what flags in global memory have ordered.
  std::vector<component> need_release_;
  /// The components that a thread would also have after a phase if an arrive or a wait of CTA
  /// scope, between threads of two CTAs, had cluster scope.
  struct scope_note {
    component phases;
    stamp phase;
    clock_ref known;
    component sender;
    stamp own;  // of the sender; 0: it is not part of `known`
    site where;
    bool wait;  // it is the wait that has CTA scope
  };
  std::vector<scope_note> scope_notes_;  // newest last
  void note_scope(scope_note const& n);
  /// E0116 instead of a conflict of tcgen05 or cp.async: a scope is the fault.
  bool blame_scope(std::string const& place, record const& earlier, record const& now,
                   thread const& by);
  /// E0111 instead of a conflict: the thread has waited for a commit that covers nothing.
  bool blame_empty_commit(site multiply, thread const& by);
  std::deque<shadow> shadows_;
  std::vector<remembered<std::uint64_t>> group_memory_;  // by warpgroup
  remembered<std::uint64_t> other_memory_;
  std::vector<origin> origins_;
  std::vector<std::vector<mbarrier_state*>> unfenced_inits_;  // by thread component
  struct leaving {
    gathering in;
    std::vector<remote_access> remote;  // newest of each component
  };
  std::deque<leaving> leaving_;  // by CTA
  struct chunk_block {  // what one step reads of an operand in one block, relative to its start
    std::uint32_t block;
    std::uint64_t cells;
    int row, column;  // the first chunk there
    std::uint32_t offset;
  };
  std::map<std::array<std::uint64_t, 2>, std::vector<chunk_block>> patterns_;
  std::vector<chunk_block> const& pattern(smem_desc d, operand_extent const& extent);
  global_memory* memory_ = nullptr;
  std::vector<std::uint32_t> global_faces_;  // by component: the launch's number for it, plus 1
  struct imports {
    component who;
    std::vector<knowledge_ref> taken;  // each holds all before it
  };
  std::vector<imports> imports_;
  std::unordered_map<std::byte const*, atomic_word> shared_words_;  // in this cluster's CTAs
  /// The newest fence_sc of each thread that ran one: its earlier writes are visible to the scope.
  struct sequential_fence {
    component who;
    stamp when;
    released what;
  };
  std::vector<sequential_fence> sequential_fences_;
  /// Relaxed reads of what was written after a fence_sc.
  struct sequential_read {
    component who;
    stamp when;
    released from;
  };
  std::vector<sequential_read> sequential_reads_;
  void note_sequential(thread const& t, released const& from);
  /// The fault of a flag that a thread of this cluster read: for the reports.
  struct flag_note {
    enum class kind : std::uint8_t { narrow_scope, relaxed_write, relaxed_read } what;
    int writer, reader;  // CTAs; `several` (global_order.cpp): any
    bool polled;         // by a load alone: a counter that is added to is seldom the flag
    site where;
    bool other_device = false;
  };
  std::vector<flag_note> notes_;  // newest last
  void note_flag(flag_note const& n);
  std::vector<touched> scratch_;
  std::unique_ptr<tensor_memory_order> tensor_;  // null: the cluster has not used tcgen05
  std::uint32_t next_origin_ = 0;
  std::uint64_t issued_ = 0;     // loads and wgmmas
  bool committed_late_ = false;  // written_since(), of the conflict that is reported
  int origin_first_[2] = {};
};

}  // namespace tw::emu::hazard
