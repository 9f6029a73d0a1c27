// SPDX-License-Identifier: Apache-2.0
// clock.cpp  Joins of clocks.
#include "emu/hazard/clock.hpp"

#include <algorithm>

namespace tw::emu::hazard {

namespace {

/// Stamps that a loop of known length takes at a time, so that the compiler makes vectors of them.
constexpr std::size_t at_once = 8;

void raise(std::vector<stamp>& to, std::vector<stamp> const& from) {
  if (to.size() < from.size()) to.resize(from.size());
  stamp* __restrict const t = to.data();
  stamp const* __restrict const f = from.data();
  std::size_t i = 0;
  std::size_t const n = from.size();
  for (; i + at_once <= n; i += at_once)
    for (std::size_t j = i; j < i + at_once; ++j) t[j] = t[j] < f[j] ? f[j] : t[j];
  for (; i < n; ++i) t[i] = std::max(t[i], f[i]);
}

void raise(std::vector<stamp>& to, component c, stamp s) {
  if (to.size() <= c) to.resize(c + 1);
  to[c] = std::max(to[c], s);
}

bool covers(std::vector<stamp> const& a, std::vector<stamp> const& b) {
  if (a.size() < b.size()) {
    for (std::size_t i = a.size(); i < b.size(); ++i)
      if (b[i] != 0) return false;
  }
  unsigned less = 0;
  for (std::size_t i = 0, n = std::min(a.size(), b.size()); i < n; ++i) less |= a[i] < b[i];
  return less == 0;
}

bool covers(clock const& a, clock const& b) {
  return covers(a.before, b.before) && covers(a.fenced, b.fenced);
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

clock_ref clock_pool::made(std::vector<stamp> const& before, std::vector<stamp> const& fenced) {
  clock_ref r = make();
  auto& c = const_cast<clock&>(*r);
  c.before = before;
  c.fenced = fenced;
  return r;
}

clock_ref clock_pool::joined(clock_ref const& a, clock_ref const& b) {
  if (a == b || covers(*a, *b)) return a;
  if (covers(*b, *a)) return b;
  clock_ref r = made(a->before, a->fenced);
  auto& c = const_cast<clock&>(*r);
  raise(c.before, b->before);
  raise(c.fenced, b->fenced);
  return r;
}

clock_ref clock_pool::with(clock_ref const& a, component c, stamp s) {
  if (a->happened(c) >= s) return a;
  clock_ref r = made(a->before, a->fenced);
  auto& k = const_cast<clock&>(*r);
  raise(k.before, c, s);
  raise(k.fenced, c, s);
  return r;
}

clock_ref clock_pool::with_unfenced(clock_ref const& a, component c, stamp s) {
  if (a->happened(c) >= s) return a;
  clock_ref r = made(a->before, a->fenced);
  raise(const_cast<clock&>(*r).before, c, s);
  return r;
}

clock_ref clock_pool::with_fence(clock_ref const& a, component c) {
  if (a->passed_fence(c) >= a->happened(c)) return a;
  clock_ref r = made(a->before, a->fenced);
  raise(const_cast<clock&>(*r).fenced, c, a->happened(c));
  return r;
}

clock_ref clock_pool::all_fenced(clock_ref const& a) {
  if (covers(a->fenced, a->before)) return a;
  return made(a->before, a->before);
}

void gathering::add(clock_ref const& known) {
  for (clock_ref const& s : seen_)
    if (s == known) return;
  seen_[next_++ % 4] = known;
  raise(before_, known->before);
  raise(fenced_, known->fenced);
}

void gathering::add(component thread, stamp own, stamp own_fenced) {
  raise(before_, thread, own);
  raise(fenced_, thread, own_fenced);
}

void gathering::add_from(clock_ref const& known, component first) {
  for (component c = first; c < known->before.size(); ++c)
    if (known->before[c] != 0) raise(before_, c, known->before[c]);
  for (component c = first; c < known->fenced.size(); ++c)
    if (known->fenced[c] != 0) raise(fenced_, c, known->fenced[c]);
}

clock_ref gathering::freeze(clock_pool& pool) {
  clock_ref r = pool.made(before_, fenced_);
  clear();
  return r;
}

void gathering::clear() {
  std::fill(before_.begin(), before_.end(), 0);
  std::fill(fenced_.begin(), fenced_.end(), 0);
  for (clock_ref& s : seen_) s = {};
  next_ = 0;
}

}  // namespace tw::emu::hazard
