// SPDX-License-Identifier: Apache-2.0
// checker.hpp  The hazard model of one cluster: an access is legal only if the program guarantees
//              its order after every earlier access that it conflicts with.
//
// The verdict does not depend on the schedule that happened to run. A thread learns what others did
// from barriers (arrive: what it knows goes in; wait: what came in goes out), from wgmma_wait and
// from tma_store_wait. An access by an asynchronous unit (TMA, wgmma) after a plain one needs a
// proxy fence besides. PTX ISA, "Memory Consistency Model", "Async proxy", "fence.proxy".
#pragma once

#include <array>
#include <deque>
#include <map>
#include <string>

#include "emu/hazard/shadow.hpp"
#include "tilewright/arch/emu/launch.hpp"

namespace tw::emu {
class machine;
struct cluster_state;
struct cta_state;
struct thread;
struct mbarrier_state;
struct warpgroup_state;
struct bulk_op;
struct wgmma_call;
}  // namespace tw::emu

namespace tw::emu::hazard {

/// What a thread knows, and its own accesses: those up to own_fenced have passed its proxy fence.
struct actor {
  clock_ref known;
  stamp own = 1, own_fenced = 0;
};

/// What those who arrive at a barrier bring to those who leave it.
struct exchange {
  gathering in;
  clock_ref out;
  remembered<int> joins;
};

/// Of an mbarrier.
struct mbarrier_face {
  component phases = 0;
  exchange own;             // what a wait with CTA scope learns
  exchange all;             // what a wait with cluster scope learns; used if `wide`
  bool wide = false;        // a peer CTA has arrived with release at cluster scope in this phase
  clock_ref wide_out;       // of the last completed phase, if it was wide
  component maker = 0;      // the thread that ran init
  stamp made = 0;           // when
  stamp fenced = 0;         // when its fence_mbarrier_init ran; 0: not yet
  std::int64_t issued = 0;  // bytes of the loads bound to the current phase
  std::vector<std::uint32_t> seen;  // by thread: newest phase observed, plus 2; 0: none
};

/// Who issued a wgmma with which knowledge: usually one clock for all 128 threads.
struct view {
  clock_ref known;
  std::uint64_t threads[2] = {};  // of the warpgroup
};
struct step_views {
  std::vector<view> views;
  stamp own_fenced[128] = {};
};

class checker {
 public:
  void start(machine& m, cluster_state& c, grid const& g, options const& o);

  // Synchronisation
  void proxy_fence(thread& t);
  void mbarrier_init_fence(thread& t);
  /// release: with everything the thread knows; otherwise only what asynchronous work it knows to
  /// be complete (docs/decisions/0004).
  void arrive(thread& t, exchange& x, bool release);
  void arrived(thread& t);
  void complete(exchange& x);
  void leave(thread& t, exchange& x);

  void init(thread& t, mbarrier_state& b);
  void use(thread& t, cta_state& owner, mbarrier_state& b, bool by_copy, site where);
  void arrive(thread& t, cta_state& owner, mbarrier_state& b, bool release, bool cluster_scope,
              site where);
  void phase_done(mbarrier_state& b);
  void passed(thread& t, mbarrier_state& b, scope s, bool peek, site where);

  // Accesses of shared memory
  void matrix_row(thread& t, std::uint32_t offset, bool write, site where);
  void plain(thread& t, cta_state& owner, std::uint32_t offset, std::uint32_t bytes, bool write,
             site where);
  void load(thread& t, bulk_op& op);
  void store(thread& t, bulk_op const& op);
  void waited_for_stores(thread& t, std::uint32_t groups);
  void view_of(thread& t, step_views& v);
  void multiply(warpgroup_state& w, wgmma_call const& call, step_views const& v,
                std::uint32_t group, site where);
  void waited_for_groups(thread& t, std::uint32_t groups);
  void exits(thread& t, bool last_of_cta);

 private:
  struct component_face {
    enum class kind : std::uint8_t { thread, warpgroup, mbarrier, stores } what;
    int cta = 0;
    int index = 0;  // thread or warpgroup in the CTA; offset of an mbarrier
  };
  /// A tile that TMA brought: where its bytes come from.
  struct origin {
    void const* map = nullptr;
    int at[5] = {};
    int rank = 0;
    std::uint32_t smem_offset = 0;
    std::uint32_t row_bytes = 0;  // pitch of the box's rows in shared memory
    int rows = 0;
    int elem_bytes = 2;
    swizzle_mode swizzle{};
    site where;
  };
  struct remote_access {
    component who;
    stamp when;
    site where;
    bool copy;
  };

  component thread_component(thread const& t) const;
  component warpgroup_component(warpgroup_state const& w) const;
  component stores_component(thread& t);
  void learn(thread& t, component c, stamp s, remembered<std::uint64_t>& memory);

  enum class verdict : std::uint8_t { ordered, unordered, unfenced };
  verdict judge(actor const& a, component self, record const& earlier, bool async) const;
  verdict judge(warpgroup_state const& w, step_views const& v, record const& earlier) const;
  bool fence_concerns(record const& earlier, bool async) const;
  void access_cells(thread& t, cta_state& owner, touched at, record const& r);
  void each_box_block(bulk_op const& op, std::vector<touched>& to) const;
  void read_operand(warpgroup_state& w, step_views const& v, smem_desc d, operand_major major,
                    int extent, record const& r, thread const& by, int (&k_of)[2]);
  void check_origin(record const& written, smem_desc d, operand_major major, std::uint32_t offset,
                    int row, int column, int (&first)[3], thread const& by, site where);

  // Words (reports.cpp)
  void report(char const* code, char const* kind, std::string text, site where, site earlier,
              std::string object);
  void report_conflict(cta_state const& owner, std::uint32_t offset, record const& earlier,
                       record const& now, thread const& by, verdict v);
  void report_unwritten(cta_state const& owner, std::uint32_t offset, record const& now,
                        thread const& by);
  void report_stale_phase(thread const& t, mbarrier_state const& b, site where);
  void report_init(thread const& t, cta_state const& owner, mbarrier_state const& b, bool unfenced,
                   site where);
  void report_k_mismatch(thread const& by, int k_a, int k_b, wgmma_call const& call, site where);
  void report_early_exit(thread const& t, component who, site where, bool copy);
  void report_origin(char const* code, char const* kind, std::string const& what,
                     std::string const& remedy, record const& written, std::uint32_t offset,
                     thread const& by, site where);
  std::string name_of(component c) const;
  std::string object(cta_state const& owner, std::uint32_t offset) const;
  std::string describe(record const& r) const;

  machine* machine_ = nullptr;
  cluster_state* cluster_ = nullptr;
  grid grid_;
  options options_;
  clock_pool pool_;
  int threads_ = 0, groups_ = 0;  // of a CTA
  std::vector<component_face> faces_;
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
  std::vector<chunk_block> const& pattern(smem_desc d, operand_major major, int extent);
  std::vector<touched> scratch_;
  std::uint32_t next_origin_ = 0;
  int origin_first_[2] = {};
};

}  // namespace tw::emu::hazard
