// SPDX-License-Identifier: Apache-2.0
// global_order.cpp  The order that flags and counters in memory carry between threads:
//                   releases, acquires, fences, scopes. PTX ISA, "Memory Consistency Model":
//                   "Release and Acquire Patterns", "Release Sequence", "Morally strong
//                   operations".
#include <algorithm>

#include "emu/machine/checker.hpp"
#include "emu/machine/machine.hpp"

namespace tw::emu::hazard {

namespace {

scope narrower(scope a, scope b) { return a < b ? a : b; }

}  // namespace

void checker::global_proxy_fence(thread& t) {
  std::scoped_lock const lock(memory_->mutex);
  memory_->fenced(global_face_of(t, thread_component(t), true), t.actor.own++);
  t.global.fenced_known = t.actor.known;
}

void checker::predecessor_done(thread& t) {
  learn(t, predecessor_component(), 1, other_memory_);
  std::scoped_lock const lock(memory_->mutex);
  memory_->waited_for_predecessor();
}

knowledge_ref checker::release(thread& t) {
  auto all = std::make_shared<knowledge>();
  for (imports const& i : imports_)
    if (stamp const n = t.actor.known->happened(i.who); n > 0) all->join(*i.taken[n - 1]);
  auto own = std::make_shared<std::vector<stamp>>(t.actor.known->before);
  component const self = thread_component(t);
  if (own->size() <= self) own->resize(self + 1);
  (*own)[self] = t.actor.own++;
  all->join(cluster_->id, own);
  auto fenced = std::make_shared<std::vector<stamp>>(t.actor.known->fenced);
  if (fenced->size() <= self) fenced->resize(self + 1);
  (*fenced)[self] = t.actor.own_fenced;
  all->join_fenced(cluster_->id, fenced);
  return all;
}

bool checker::reaches(released const& from, thread const& t, scope s) const {
  scope const both = narrower(from.reach, s);
  return both == scope::sys || (both == scope::gpu && from.device == t.device) ||
         (both == scope::cluster && from.cluster == cluster_->id) || from.cta == t.cta;
}

void checker::acquire(thread& t, released const& from) {
  if (!from.what || t.global.last_taken == from.what) return;
  t.global.last_taken = from.what;
  component const who = new_component(t.global.acquires, component_face::kind::acquires, t);
  if (std::ranges::find(need_release_, who) == need_release_.end()) need_release_.push_back(who);
  auto it = std::ranges::find(imports_, who, &imports::who);
  if (it == imports_.end()) {
    imports_.push_back({who, {}});
    it = imports_.end() - 1;
  }
  auto all = it->taken.empty() ? std::make_shared<knowledge>()
                               : std::make_shared<knowledge>(*it->taken.back());
  all->join(*from.what);
  it->taken.push_back(all);
  actor& a = t.actor;
  if (auto const own = from.what->of(cluster_->id)) {
    auto const fenced = from.what->fenced(cluster_->id);
    a.known = pool_.joined(a.known, pool_.made(*own, fenced ? *fenced : std::vector<stamp>{}, 0));
  }
  a.known = pool_.with(a.known, who, static_cast<stamp>(it->taken.size()));
}

void checker::note_flag(flag_note const& n) {
  constexpr std::size_t max_notes = 32;
  std::erase_if(notes_, [&](flag_note const& x) {
    return x.what == n.what && x.writer == n.writer && x.reader == n.reader && x.where == n.where;
  });
  if (notes_.size() == max_notes) notes_.erase(notes_.begin());
  notes_.push_back(n);
}

bool checker::morally_strong(record const& a, record const& b, nearness of) {
  if (!traits(a.what).atomic || !traits(b.what).atomic) return false;
  scope const both = narrower(a.reach, b.reach);
  return of.cta || both == scope::sys || (both == scope::gpu && of.device) ||
         (both == scope::cluster && of.cluster);
}

void checker::thread_fence(thread& t, scope s, bool sequential) {
  std::unique_lock<std::mutex> const lock(memory_->mutex);
  for (released const& r : t.global.seen)
    if (reaches(r, t, s)) acquire(t, r);
  t.global.seen.clear();
  if (sequential)
    for (sequential_read const& r : sequential_reads_)
      if (t.actor.known->happened(r.who) >= r.when && reaches(r.from, t, s)) acquire(t, r.from);
  t.global.fence = {s, t.cta, cluster_->id, t.device, release(t)};
  if (!sequential) return;
  t.global.fence.sequential = t.global.fence.what;
  component const who = thread_component(t);
  sequential_fence const mine{who, t.actor.own - 1, t.global.fence};
  auto const it = std::ranges::find_if(sequential_fences_, [&](sequential_fence const& f) {
    return f.who == who && f.what.reach == s;
  });
  if (it == sequential_fences_.end())
    sequential_fences_.push_back(mine);
  else
    *it = mine;
}

/// PTX ISA, "Fence-SC": if a thread has run fence.sc before a write, and another one runs it
/// after a read of that write, the two fences order what lies around them. Reader and fence may be
/// of two threads with a barrier between them.
void checker::note_sequential(thread const& t, released const& from) {
  if (!from.sequential) return;
  released part = from;
  part.what = from.sequential;
  sequential_read const mine{thread_component(t), t.actor.own, part};
  auto const it = std::ranges::find_if(sequential_reads_, [&](sequential_read const& r) {
    return r.who == mine.who && r.from.what == part.what;
  });
  if (it != sequential_reads_.end()) return;
  constexpr std::size_t max_reads = 64;
  if (sequential_reads_.size() == max_reads) sequential_reads_.erase(sequential_reads_.begin());
  sequential_reads_.push_back(mine);
}

void checker::atomic(thread& t, std::uintptr_t address, std::size_t bytes, atomic_access const& a,
                     site where) {
  record r;
  r.who = thread_component(t);
  r.when = t.actor.own;
  r.what = a.writes ? access::atomic_write : access::atomic_read;
  r.reach = a.reach;
  r.where = where;
  global_access(t, address, bytes, r);
  std::scoped_lock const lock(memory_->mutex);
  pass_on(t, memory_->word_at(address), a, where);
}

void checker::shared_atomic(thread& t, cta_state& owner, std::uint32_t offset, std::uint32_t bytes,
                            atomic_access const& a, site where) {
  record r;
  r.who = thread_component(t);
  r.when = t.actor.own;
  r.what = a.writes ? access::atomic_write : access::atomic_read;
  r.reach = a.reach;
  r.where = where;
  if (a.reads && a.writes) {
    auto const mask = static_cast<std::uint16_t>(((1U << bytes) - 1) << offset % cell_bytes);
    if (shadows_[static_cast<std::size_t>(owner.rank)].unwritten(offset / cell_bytes, mask) != 0)
      report_unwritten(owner, offset, r, t);
  }
  access_bytes(t, owner, offset, bytes, r);
  std::scoped_lock const lock(memory_->mutex);
  pass_on(t, shared_words_[owner.smem + offset], a, where);
}

void checker::pass_on(thread& t, atomic_word& word, atomic_access const& a, site where) {
  if (a.reads) {
    bool const acquires = a.order == mem_order::acquire || a.order == mem_order::acq_rel;
    for (released const& from : word.out) {
      if (!reaches(from, t, a.reach)) {
        note_flag({flag_note::kind::narrow_scope, from.cta, t.cta, !a.writes, where,
                   from.device != t.device});
        continue;
      }
      if (acquires) {
        acquire(t, from);
        continue;
      }
      if (from.cta != t.cta)
        note_flag({flag_note::kind::relaxed_read, from.cta, t.cta, !a.writes, where});
      note_sequential(t, from);
      auto& seen = t.global.seen;
      if (std::ranges::find(seen, from.what, &released::what) == seen.end()) {
        if (seen.size() == 8) seen.erase(seen.begin());
        seen.push_back(from);
      }
    }
    if (word.relaxed_at.line != 0)
      note_flag(
          {flag_note::kind::relaxed_write, word.relaxed_by, t.cta, !a.writes, word.relaxed_at});
  }
  if (!a.writes) return;
  if (!a.reads) word.out.clear();  // a store begins anew; an addition continues the sequence
  word.relaxed_at = {};
  word.relaxed_by = t.cta;
  if (a.order == mem_order::release || a.order == mem_order::acq_rel) {
    leave(word, {a.reach, t.cta, cluster_->id, t.device, release(t)});
    return;
  }
  bool released_any = false;
  auto const leave_of_fence = [&](released const& fence) {
    leave(word, {narrower(a.reach, fence.reach), t.cta, cluster_->id, t.device, fence.what,
                 fence.sequential});
    released_any = true;
  };
  if (t.global.fence.what) leave_of_fence(t.global.fence);
  // PTX ISA, "membar / fence": before what follows fence.sc, the writes before it are visible to
  // the scope. So they are to who sees this write, if the fence is known to have run.
  for (sequential_fence const& f : sequential_fences_)
    if (t.actor.known->happened(f.who) > f.when) leave_of_fence(f.what);
  if (!released_any) word.relaxed_at = where;
}

void checker::leave(atomic_word& word, released const& mine) {
  auto const it = std::ranges::find_if(word.out, [&](released const& r) {
    return r.reach == mine.reach && r.device == mine.device &&
           (mine.reach >= scope::gpu || r.cta == mine.cta);
  });
  if (it == word.out.end()) {
    word.out.push_back(mine);
    return;
  }
  auto both = std::make_shared<knowledge>(*it->what);
  both->join(*mine.what);
  it->what = both;
  if (it->sequential && mine.sequential) {
    auto all = std::make_shared<knowledge>(*it->sequential);
    all->join(*mine.sequential);
    it->sequential = all;
  } else if (mine.sequential) {
    it->sequential = mine.sequential;
  }
  if (it->cta != mine.cta) it->cta = several;
  if (it->cluster != mine.cluster) it->cluster = several;
}

}  // namespace tw::emu::hazard
