// SPDX-License-Identifier: Apache-2.0
// clock.cpp  Joins of clocks.
#include "emu/history/clock.hpp"

#include <algorithm>

namespace tw::emu::hazard {

namespace {

/// Stamps that a loop of known length takes at a time, so that the compiler makes vectors of them.
constexpr std::size_t at_once = 8;

/// Components from `first` on.
void raise(std::vector<stamp>& to, std::vector<stamp> const& from, component first) {
  if (to.size() < from.size()) to.resize(from.size());
  stamp* __restrict const t = to.data();
  stamp const* __restrict const f = from.data();
  std::size_t i = first;
  std::size_t const n = from.size();
  for (; i + at_once <= n; i += at_once)
    for (std::size_t j = i; j < i + at_once; ++j) t[j] = t[j] < f[j] ? f[j] : t[j];
  for (; i < n; ++i) t[i] = std::max(t[i], f[i]);
}

void raise(std::vector<stamp>& to, component c, stamp s) {
  if (to.size() <= c) to.resize(c + 1);
  to[c] = std::max(to[c], s);
}

/// Is a at b or beyond, in all components? b is 0 below `first`.
bool covers(std::vector<stamp> const& a, std::vector<stamp> const& b, component first) {
  stamp const* const x = a.data();
  stamp const* const y = b.data();
  std::size_t i = first;
  std::size_t const n = std::min(a.size(), b.size());
  for (; i + at_once <= n; i += at_once) {
    stamp less = 0;
    for (std::size_t j = i; j < i + at_once; ++j) less |= x[j] < y[j] ? 1U : 0U;
    if (less != 0) return false;
  }
  for (; i < n; ++i)
    if (x[i] < y[i]) return false;
  for (; i < b.size(); ++i)
    if (y[i] != 0) return false;
  return true;
}

bool covers(clock const& a, clock const& b) {
  return covers(a.before, b.before, b.first) && covers(a.fenced, b.fenced, b.first);
}

}  // namespace

clock_ref clock_pool::make() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<clock>());
    return {all_.back().get(), &free_};
  }
  clock* const c = free_.back();
  free_.pop_back();
  return {c, &free_};
}

clock_ref clock_pool::made(std::vector<stamp> const& before, std::vector<stamp> const& fenced,
                           component first) {
  clock_ref r = make();
  auto& c = const_cast<clock&>(*r);
  c.before = before;
  c.fenced = fenced;
  c.first = first;
  return r;
}

clock_ref clock_pool::joined(clock_ref const& a, clock_ref const& b) {
  if (a == b || covers(*a, *b)) return a;
  if (covers(*b, *a)) return b;
  clock_ref r = made(a->before, a->fenced, std::min(a->first, b->first));
  auto& c = const_cast<clock&>(*r);
  raise(c.before, b->before, b->first);
  raise(c.fenced, b->fenced, b->first);
  return r;
}

clock_ref clock_pool::with(clock_ref const& a, component c, stamp s) {
  if (a->happened(c) >= s && a->passed_fence(c) >= s) return a;
  clock_ref r = made(a->before, a->fenced, std::min(a->first, c));
  auto& k = const_cast<clock&>(*r);
  raise(k.before, c, s);
  raise(k.fenced, c, s);
  return r;
}

clock_ref clock_pool::with_unfenced(clock_ref const& a, component c, stamp s) {
  if (a->happened(c) >= s) return a;
  clock_ref r = made(a->before, a->fenced, std::min(a->first, c));
  raise(const_cast<clock&>(*r).before, c, s);
  return r;
}

clock_ref clock_pool::with_fences(clock_ref const& a, std::vector<component> const& these) {
  auto const lacks = [&](component c) { return a->passed_fence(c) < a->happened(c); };
  if (std::ranges::none_of(these, lacks)) return a;
  clock_ref r = made(a->before, a->fenced, a->first);
  for (component const c : these) raise(const_cast<clock&>(*r).fenced, c, a->happened(c));
  return r;
}

clock_ref clock_pool::without(clock_ref const& a, std::vector<component> const& these) {
  if (std::ranges::none_of(these, [&](component c) { return a->happened(c) != 0; })) return a;
  clock_ref r = made(a->before, a->fenced, a->first);
  auto& k = const_cast<clock&>(*r);
  for (std::vector<stamp>* const x : {&k.before, &k.fenced})
    for (component const c : these)
      if (c < x->size()) (*x)[c] = 0;
  return r;
}

clock_ref clock_pool::all_fenced(clock_ref const& a) {
  if (covers(a->fenced, a->before, a->first)) return a;
  return made(a->before, a->before, a->first);
}

void gathering::add(clock_ref const& known) {
  for (clock_ref const& s : seen_)
    if (s == known) return;
  seen_[next_++ % 4] = known;
  if (!base_) {
    base_ = known;
    return;
  }
  first_ = std::min(first_, known->first);
  raise(before_, known->before, known->first);
  raise(fenced_, known->fenced, known->first);
}

void gathering::add(component thread, stamp own, stamp own_fenced) {
  counts_.push_back({thread, own, own_fenced});
}

void gathering::add_from(clock_ref const& known, component first) {
  first = std::max(first, known->first);
  first_ = std::min(first_, first);
  raise(before_, known->before, first);
  raise(fenced_, known->fenced, first);
}

clock_ref gathering::freeze(clock_pool& pool) {
  if (base_ && counts_.empty() && first_ == nothing) {
    clock_ref r = base_;
    clear();
    return r;
  }
  clock_ref r = base_ ? pool.made(base_->before, base_->fenced, base_->first)
                      : pool.made(before_, fenced_, first_);
  auto& c = const_cast<clock&>(*r);
  if (base_ && first_ != nothing) {
    c.first = std::min(c.first, first_);
    raise(c.before, before_, first_);
    raise(c.fenced, fenced_, first_);
  }
  for (thread_count const& n : counts_) {
    c.first = std::min(c.first, n.thread);
    raise(c.before, n.thread, n.own);
    raise(c.fenced, n.thread, n.own_fenced);
  }
  clear();
  return r;
}

void gathering::clear() {
  for (std::vector<stamp>* const x : {&before_, &fenced_})
    for (std::size_t i = first_; i < x->size(); ++i) (*x)[i] = 0;
  first_ = nothing;
  base_ = {};
  counts_.clear();
  for (clock_ref& s : seen_) s = {};
  next_ = 0;
}

}  // namespace tw::emu::hazard
