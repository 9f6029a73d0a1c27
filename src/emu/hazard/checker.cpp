// SPDX-License-Identifier: Apache-2.0
// checker.cpp  How knowledge moves: fences, barriers, waits.
#include "emu/machine/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "emu/machine/machine.hpp"

namespace tw::emu::hazard {

namespace {

constexpr std::uint32_t peeked = 1U << 31;  // in mbarrier_face::seen: by a try_wait

}  // namespace

void checker::start(machine& m, cluster_state& c, grid const& g, options const& o) {
  machine_ = &m;
  cluster_ = &c;
  grid_ = g;
  options_ = o;
  threads_ = g.threads;
  groups_ = (g.threads + 127) / 128;
  faces_.clear();
  stored_.clear();
  copied_.assign(static_cast<std::size_t>(g.cluster), {});
  need_release_.clear();
  scope_notes_.clear();
  origins_.assign(1, {});
  other_memory_.clear();
  for (int cta = 0; cta < g.cluster; ++cta)
    for (int t = 0; t < threads_; ++t) faces_.push_back({component_face::kind::thread, cta, t});
  for (int cta = 0; cta < g.cluster; ++cta)
    for (int w = 0; w < groups_; ++w) faces_.push_back({component_face::kind::warpgroup, cta, w});
  faces_.push_back({component_face::kind::predecessor, 0, 0});
  memory_ = m.globals();
  global_faces_.clear();
  imports_.clear();
  shared_words_.clear();
  sequential_fences_.clear();
  sequential_reads_.clear();
  notes_.clear();
  group_memory_.assign(static_cast<std::size_t>(g.cluster * groups_), {});
  unfenced_inits_.assign(static_cast<std::size_t>(g.cluster * threads_), {});
  shadows_.resize(static_cast<std::size_t>(g.cluster));
  for (shadow& s : shadows_) s.reset(static_cast<std::uint32_t>(g.smem_bytes));
  leaving_.clear();
  leaving_.resize(static_cast<std::size_t>(g.cluster));
  tensor_.reset();
  for (cta_state& b : c.ctas)
    for (thread& t : b.threads) t.actor = {pool_.zero(), 1, 0};
}

component checker::thread_component(thread const& t) const {
  return static_cast<component>(t.cluster_rank * threads_ + t.id);
}

component checker::warpgroup_component(warpgroup_state const& w) const {
  return static_cast<component>(grid_.cluster * threads_ + w.block->rank * groups_ + w.index);
}

component checker::stores_component(thread& t) {
  if (t.stores_component == 0) {
    t.stores_component = static_cast<component>(faces_.size());
    faces_.push_back({component_face::kind::stores, t.cluster_rank, t.id});
  }
  return t.stores_component;
}

component checker::new_component(component& of, component_face::kind what, thread const& t) {
  if (of == 0) {
    of = static_cast<component>(faces_.size());
    faces_.push_back({what, t.cluster_rank, t.id});
  }
  return of;
}

void checker::proxy_fence(thread& t) {
  actor& a = t.actor;
  a.known = pool_.with_fences(a.known, copied_[static_cast<std::size_t>(t.cluster_rank)]);
  a.known = pool_.with_fences(a.known, stored_);
  a.own_fenced = a.own++;
  mbarrier_init_fence(t);
  if (options_.proxy == proxy_rule::on_path) a.known = pool_.all_fenced(a.known);
}

void checker::mbarrier_init_fence(thread& t) {
  auto& inits = unfenced_inits_[thread_component(t)];
  for (mbarrier_state* b : inits) b->face.fenced = t.actor.own;
  inits.clear();
}

void checker::arrive(thread& t, exchange& x, bool release) {
  if (tensor_) tensor_arrive(t, x);
  actor const& a = t.actor;
  if (!release) {
    pass_completed(t, x);
    return;
  }
  x.in.add(a.known);
  x.in.add(thread_component(t), a.own, a.own_fenced);
}

void checker::pass_completed(thread const& t, exchange& x) {
  x.in.add_from(pool_.without(t.actor.known, need_release_),
                static_cast<component>(grid_.cluster * threads_));
}

void checker::arrived(thread& t) { ++t.actor.own; }

void checker::complete(exchange& x) {
  x.out = x.in.freeze(pool_);
  x.joins.clear();
  if (!tensor_) return;
  x.tensor_out = x.tensor_in.freeze(pool_);
  x.tensor_joins.clear();
}

void checker::take_tensor(thread& t, exchange& x) {
  if (!x.tensor_out) return;
  clock_ref& received = t.tensor.received;
  if (clock_ref const* joined = x.tensor_joins.find(received, 0)) {
    received = *joined;
    return;
  }
  clock_ref const from = received;
  received = x.tensor_joins.keep(from, 0, pool_.joined(from, x.tensor_out));
}

void checker::leave(thread& t, exchange& x) {
  if (!x.out) return;
  take_tensor(t, x);
  actor& a = t.actor;
  if (clock_ref const* known = x.joins.find(a.known, 0)) {
    a.known = *known;
    return;
  }
  clock_ref const from = a.known;
  a.known = x.joins.keep(from, 0, pool_.joined(x.out, from));
}

void checker::learn(thread& t, component c, stamp s, remembered<std::uint64_t>& memory) {
  actor& a = t.actor;
  if (a.known->happened(c) >= s) return;
  std::uint64_t const key = std::uint64_t{c} << 32 | s;
  if (clock_ref const* known = memory.find(a.known, key)) {
    a.known = *known;
    return;
  }
  clock_ref const from = a.known;
  a.known = memory.keep(from, key, pool_.with(from, c, s));
}

void checker::waited_for_stores(thread& t, std::uint32_t groups, bool written) {
  learn(t, stores_component(t), groups, other_memory_);
  if (!written) return;
  component const c = new_component(t.global.writes, component_face::kind::writes, t);
  learn(t, c, groups, other_memory_);
  std::scoped_lock const lock(memory_->mutex);
  memory_->complete(global_face_of(t, c, false), groups);
}

component checker::copies_component(thread& t) {
  if (t.global.copies == 0) {
    need_release_.push_back(new_component(t.global.copies, component_face::kind::copies, t));
    copied_[static_cast<std::size_t>(t.cluster_rank)].push_back(t.global.copies);
  }
  return t.global.copies;
}

void checker::waited_for_copies(thread& t, std::uint32_t groups) {
  component const c = copies_component(t);
  t.actor.known = pool_.with_unfenced(t.actor.known, c, t.runs_of[groups - 1]);
}

void checker::waited_for_groups(thread& t, std::uint32_t groups) {
  warpgroup_state const& w = *t.group;
  learn(t, warpgroup_component(w), groups,
        group_memory_[static_cast<std::size_t>(w.block->rank * groups_ + w.index)]);
}

component checker::mbarrier_component(int cta, mbarrier_state const& b) {
  faces_.push_back({component_face::kind::mbarrier, cta, static_cast<int>(b.offset)});
  return static_cast<component>(faces_.size() - 1);
}

void checker::init(thread& t, mbarrier_state& b) {
  mbarrier_face& f = b.face;
  f.phases = mbarrier_component(t.cluster_rank, b);
  f.stored = 0;
  f.maker = thread_component(t);
  f.made = t.actor.own;
  f.seen.assign(static_cast<std::size_t>(threads_), 0);
  f.repeated.clear();
  f.used.assign(static_cast<std::size_t>(grid_.cluster * threads_), {});
  f.counted = 0;
  f.narrow.clear();
  f.narrow_out.clear();
  unfenced_inits_[f.maker].push_back(&b);
}

std::optional<checker::open_use> checker::unordered_use(thread const& t,
                                                        mbarrier_state const& b) const {
  mbarrier_face const& f = b.face;
  component const self = thread_component(t);
  std::uint32_t const seen = f.seen[static_cast<std::size_t>(t.id)] & ~peeked;
  stamp const ended = std::max(t.actor.known->happened(f.phases), seen == 0 ? 0 : seen - 1);
  for (component c = 0; c < f.used.size(); ++c) {
    mbarrier_face::last_use const& u = f.used[c];
    bool const counted = u.arrives_in != 0 && u.arrives_in <= ended;
    if (c != self && !counted && t.actor.known->happened(c) < u.when)
      return open_use{"the use by " + name_of(c), u.where};
  }
  if (ended < f.counted)
    return open_use{fmt::format("the end of phase {}, which counts {},", f.counted - 1, f.counts),
                    f.counted_at};
  return std::nullopt;
}

void checker::counts(thread const& t, mbarrier_state& b, char const* what, site where) {
  mbarrier_face& f = b.face;
  f.counted = f.used[thread_component(t)].arrives_in = b.phase + 1;
  f.counts = what;
  f.counted_at = where;
}

void checker::copies_arrived(thread& t, mbarrier_state& b, stamp until) {
  component const c = copies_component(t);
  b.face.own.in.add(c, until, 0);  // of the generic proxy: not fenced
  if (b.face.wide) b.face.all.in.add(c, until, 0);
}

void checker::widen(mbarrier_face& f) {
  if (!f.wide) {
    f.all.in = f.own.in;
    f.all.tensor_in = f.own.tensor_in;
  }
  f.wide = true;
}

void checker::arrive(thread& t, cta_state& owner, mbarrier_state& b, bool release,
                     bool cluster_scope, site where) {
  mbarrier_face& f = b.face;
  f.used[thread_component(t)].arrives_in = b.phase + 1;
  bool const remote = owner.rank != t.cluster_rank;
  if (!remote) {
    arrive(t, f.own, release);
    if (f.wide) arrive(t, f.all, release);
  } else {
    if (release && !cluster_scope) {
      // It orders nothing of tcgen05 either.
      f.narrow.push_back({thread_component(t), t.actor.own, t.actor.known, where});
      pass_completed(t, f.own);
    } else {
      arrive(t, f.own, false);
    }
    if (!release || !cluster_scope)
      t.narrow = {t.actor.own, release ? "scope::cta" : "relaxed order", where};
    if (release && cluster_scope) {
      widen(f);
      arrive(t, f.all, true);
    } else if (f.wide) {
      if (release)
        pass_completed(t, f.all);
      else
        arrive(t, f.all, false);
    }
    note_remote(owner,
                {thread_component(t), t.actor.own, where, remote_access::kind::arrive, b.offset});
  }
  arrived(t);
}

void checker::phase_done(mbarrier_state& b) {
  mbarrier_face& f = b.face;
  f.issued = 0;
  f.own.in.add(f.phases, b.phase, b.phase);
  complete(f.own);
  f.narrow_out = std::exchange(f.narrow, {});
  f.wide_out = {};
  if (!f.wide) return;
  f.all.in.add(f.phases, b.phase, b.phase);
  if (f.stored != 0) f.all.in.add(f.stored, b.phase, 0);  // of the generic proxy: not fenced
  complete(f.all);
  f.wide_out = f.all.out;
  f.wide = false;
}

void checker::passed(thread& t, mbarrier_state& b, wait_order order, bool peek, site where) {
  mbarrier_face& f = b.face;
  std::uint32_t& seen = f.seen[static_cast<std::size_t>(t.id)];
  std::uint32_t const now = b.phase + 1;  // phases observed, counting the state before the first
  bool const again = (seen & ~peeked) == now;
  if (again && (seen & peeked) == 0) {
    auto const self = static_cast<std::uint32_t>(t.id);
    if (has_newer_phase(b, t.id))
      report_stale_phase(t, b, where);
    else if (std::ranges::find(f.repeated, self, &mbarrier_face::repeated_wait::thread) ==
             f.repeated.end())
      f.repeated.push_back({self, where});
  }
  seen = now | (peek ? peeked : 0);
  for (mbarrier_face::narrow_arrive const& n : f.narrow_out)
    note_scope({f.phases, b.phase, n.known, n.who, n.own, n.where, false});
  if (order.reach != scope::cluster && f.wide_out)
    note_scope({f.phases, b.phase, f.wide_out, f.phases, 0, where, true});
  exchange& from = order.reach == scope::cluster && f.wide_out ? f.all : f.own;
  if (order.acquires)
    leave(t, from);
  else
    take_tensor(t, from);
}

void checker::note_scope(scope_note const& n) {
  constexpr std::size_t max_notes = 64;
  std::erase_if(scope_notes_, [&](scope_note const& x) {
    return x.phases == n.phases && x.phase == n.phase && x.sender == n.sender && x.where == n.where;
  });
  if (scope_notes_.size() == max_notes) scope_notes_.erase(scope_notes_.begin());
  scope_notes_.push_back(n);
}

bool checker::has_newer_phase(mbarrier_state const& b, int thread) {
  std::uint32_t const seen = b.face.seen[static_cast<std::size_t>(thread)] & ~peeked;
  return b.phase + 1 > seen || b.pending != b.count || b.expected != 0 || b.face.issued != 0;
}

void checker::note_remote(cta_state const& owner, remote_access const& now) {
  auto& list = leaving_[static_cast<std::size_t>(owner.rank)].remote;
  auto const it = std::ranges::find(list, now.who, &remote_access::who);
  if (it == list.end())
    list.push_back(now);
  else
    *it = now;
}

void checker::exits(thread& t, bool last_of_cta) {
  leaving& l = leaving_[static_cast<std::size_t>(t.cluster_rank)];
  l.in.add(t.actor.known);
  l.in.add(thread_component(t), t.actor.own, t.actor.own_fenced);
  if (!last_of_cta) return;
  for (mbarrier_state const& b : t.block->mbarriers)
    for (mbarrier_face::repeated_wait const& w : b.face.repeated)
      if (has_newer_phase(b, static_cast<int>(w.thread)))
        report_stale_phase(t.block->threads[w.thread], b, w.where);
  clock_ref const known = l.in.freeze(pool_);
  for (remote_access const& r : l.remote)
    if (known->happened(r.who) < r.when) {
      report_early_exit(t, r);
      break;
    }
}

}  // namespace tw::emu::hazard
