// SPDX-License-Identifier: Apache-2.0
// global_order.cpp  What flags and counters in global memory carry between CTAs: releases,
//                   acquires, fences, scopes. PTX ISA, "Memory Consistency Model": "Release and
//                   Acquire Patterns", "Release Sequence", "Morally strong operations".
#include <algorithm>

#include "emu/hazard/checker.hpp"
#include "emu/machine.hpp"

namespace tw::emu::hazard {

namespace {

scope narrower(scope a, scope b) { return a < b ? a : b; }

}  // namespace

void checker::global_proxy_fence(thread& t) {
  std::scoped_lock const lock(memory_->mutex);
  memory_->fenced(global_face_of(t, thread_component(t), true), t.actor.own++);
  t.global.fenced_known = t.actor.known;
}

void checker::predecessor_done(thread& t) { learn(t, predecessor_component(), 1, other_memory_); }

knowledge_ref checker::release(thread& t) {
  auto all = std::make_shared<knowledge>();
  for (imports const& i : imports_)
    if (stamp const n = t.actor.known->happened(i.who); n > 0) all->join(*i.taken[n - 1]);
  auto own = std::make_shared<std::vector<stamp>>(t.actor.known->before);
  component const self = thread_component(t);
  if (own->size() <= self) own->resize(self + 1);
  (*own)[self] = t.actor.own++;
  all->join(cluster_->id, own);
  return all;
}

bool checker::reaches(released const& from, thread const& t, scope s) const {
  scope const both = narrower(from.reach, s);
  return both == scope::gpu || (both == scope::cluster && from.cluster == cluster_->id) ||
         from.cta == t.cta;
}

void checker::acquire(thread& t, released const& from) {
  if (!from.what || t.global.last_taken == from.what) return;
  t.global.last_taken = from.what;
  component const who = new_component(t.global.acquires, component_face::kind::acquires, t);
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
  if (auto const own = from.what->of(cluster_->id))
    a.known = pool_.joined(a.known, pool_.made(*own, {}));
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

void checker::global_fence(thread& t, scope s) {
  std::scoped_lock const lock(memory_->mutex);
  for (released const& r : t.global.seen)
    if (reaches(r, t, s)) acquire(t, r);
  t.global.seen.clear();
  t.global.fence = {s, t.cta, cluster_->id, release(t)};
}

void checker::atomic(thread& t, std::uintptr_t address, std::size_t bytes, bool reads, bool writes,
                     mem_order o, scope s, site where) {
  record r;
  r.who = thread_component(t);
  r.when = t.actor.own;
  r.what = writes ? access::atomic_write : access::atomic_read;
  r.where = where;
  global_access(t, address, bytes, r);

  std::scoped_lock const lock(memory_->mutex);
  atomic_word& word = memory_->word_at(address);
  if (reads) {
    bool const acquires = o == mem_order::acquire || o == mem_order::acq_rel;
    for (released const& from : word.out) {
      if (!reaches(from, t, s)) {
        note_flag({flag_note::kind::narrow_scope, from.cta, t.cta, !writes, where});
        continue;
      }
      if (acquires) {
        acquire(t, from);
        continue;
      }
      if (from.cta != t.cta)
        note_flag({flag_note::kind::relaxed_read, from.cta, t.cta, !writes, where});
      auto& seen = t.global.seen;
      if (std::ranges::find(seen, from.what, &released::what) == seen.end()) {
        if (seen.size() == 8) seen.erase(seen.begin());
        seen.push_back(from);
      }
    }
    if (word.relaxed_at.line != 0)
      note_flag({flag_note::kind::relaxed_write, word.relaxed_by, t.cta, !writes, word.relaxed_at});
  }
  if (!writes) return;
  released mine{s, t.cta, cluster_->id, nullptr};
  if (o == mem_order::release || o == mem_order::acq_rel) {
    mine.what = release(t);
  } else if (t.global.fence.what) {
    mine.reach = narrower(s, t.global.fence.reach);
    mine.what = t.global.fence.what;
  }
  if (!reads) word.out.clear();  // a store begins anew; an addition continues the sequence
  word.relaxed_at = mine.what ? site{} : where;
  word.relaxed_by = t.cta;
  if (!mine.what) return;
  auto it = std::ranges::find(word.out, mine.reach, &released::reach);
  while (it != word.out.end() && mine.reach != scope::gpu && it->cta != mine.cta)
    it = std::ranges::find(it + 1, word.out.end(), mine.reach, &released::reach);
  if (it == word.out.end()) {
    word.out.push_back(mine);
    return;
  }
  auto both = std::make_shared<knowledge>(*it->what);
  both->join(*mine.what);
  it->what = both;
  if (it->cta != mine.cta) it->cta = several;
  if (it->cluster != mine.cluster) it->cluster = several;
}

}  // namespace tw::emu::hazard
