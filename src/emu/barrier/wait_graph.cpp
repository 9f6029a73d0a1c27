// SPDX-License-Identifier: Apache-2.0
// wait_graph.cpp  Edges by what each barrier has seen so far; order by reachability.
#include "emu/barrier/wait_graph.hpp"

#include <algorithm>
#include <tuple>

namespace tw::emu {

namespace {

bool waits(thread const& t) {
  return t.waiting != wait_kind::none && t.waiting != wait_kind::finished;
}

bool of_its_warp(wait_kind k) {
  return k == wait_kind::exchange || k == wait_kind::ldmatrix || k == wait_kind::tensor_step ||
         k == wait_kind::warp_barrier;
}

thread const* first_of_warp(thread const& t) { return &t - t.id % 32; }

/// The object that t waits for. Two threads that wait for one object get equal answers.
std::pair<wait_kind, void const*> object_of(thread const& t) {
  if (waits_for_mbarrier(t)) return {wait_kind::mbarrier, t.wait_object};
  if (of_its_warp(t.waiting)) return {t.waiting, first_of_warp(t)};
  return {t.waiting, t.wait_object};
}

int kind_of(thread const& t) {
  if (t.waiting == wait_kind::tensor_columns)
    return static_cast<cta_state const*>(t.wait_object)->tensor->held_by ? 0 : 2;
  mbarrier_state const* const b = mbarrier_of(t);
  return b == nullptr ? 2 : b->tx != 0 ? 0 : 1;
}

/// Calls f with each thread that must act before t's wait can end, as far as the state shows.
template <class F>
void each_needed(cluster_state const& c, thread const& t, F const& f) {
  auto const all = [&f](cta_state const& b) {
    for (thread const& x : b.threads) f(x);
  };
  if (mbarrier_state const* const b = mbarrier_of(t)) {
    // If some copies of the phase have landed, the threads that issue copies are past this place.
    bool const no_copy_yet = b->tx > 0 && b->landed == 0;
    for (cta_state const& cta : c.ctas)
      for (thread const& x : cta.threads)
        if ((b->pending > 0 && b->sources.holds(x) && !b->came.holds(x)) ||
            (no_copy_yet && b->copiers.holds(x)))
          f(x);
  } else if (of_its_warp(t.waiting)) {
    int const lanes = std::min(32, t.thread_count - t.id / 32 * 32);
    for (int i = 0; i < lanes; ++i) f(first_of_warp(t)[i]);
  } else if (t.waiting == wait_kind::named_barrier) {
    all(*t.block);
  } else if (t.waiting == wait_kind::cluster_barrier) {
    for (cta_state const& cta : c.ctas) all(cta);
  } else if (t.waiting == wait_kind::wgmma_group) {
    for (thread const& x : t.block->threads)
      if (x.group == t.group) f(x);
  }
}

void visit(std::vector<wait_graph::node> const& nodes, std::size_t at, std::vector<bool>& seen) {
  for (std::size_t const next : nodes[at].needs) {
    if (seen[next]) continue;
    seen[next] = true;
    visit(nodes, next, seen);
  }
}

}  // namespace

bool waits_for_mbarrier(thread const& t) {
  return t.waiting == wait_kind::mbarrier || t.waiting == wait_kind::mbarrier_try;
}

mbarrier_state const* mbarrier_of(thread const& t) {
  return waits_for_mbarrier(t) ? static_cast<mbarrier_state const*>(t.wait_object) : nullptr;
}

std::vector<thread const*> missing_arrivals(cluster_state const& c, mbarrier_state const& b) {
  std::vector<thread const*> missing;
  for (cta_state const& cta : c.ctas)
    for (thread const& x : cta.threads)
      if (b.pending > 0 && b.sources.holds(x) && !b.came.holds(x) && mbarrier_of(x) != &b)
        missing.push_back(&x);
  return missing;
}

wait_graph::wait_graph(cluster_state const& c) {
  auto const index_of = [&](thread const& t) {
    auto const it = std::ranges::find_if(
        nodes_, [&](node const& n) { return object_of(*n.first) == object_of(t); });
    return static_cast<std::size_t>(it - nodes_.begin());
  };
  auto const each_waiting = [&](auto const& f) {
    for (cta_state const& b : c.ctas)
      for (thread const& t : b.threads)
        if (waits(t)) f(t);
  };
  each_waiting([&](thread const& t) {
    std::size_t const i = index_of(t);
    if (i == nodes_.size())
      nodes_.push_back({&t, kind_of(t), 0, {}});
    else if (t.waits_since < nodes_[i].first->waits_since)
      nodes_[i].first = &t;
  });
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    each_needed(c, *nodes_[i].first, [&](thread const& x) {
      if (!waits(x)) return;
      std::size_t const to = index_of(x);
      if (to != i && std::ranges::find(nodes_[i].needs, to) == nodes_[i].needs.end())
        nodes_[i].needs.push_back(to);
    });
  std::vector<std::vector<bool>> reaches(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    reaches[i].resize(nodes_.size());
    visit(nodes_, i, reaches[i]);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      if (reaches[i][k] && !reaches[k][i]) ++nodes_[i].upstream;
  std::ranges::stable_sort(nodes_, {}, [](node const& n) {
    return std::tuple(n.upstream, n.kind, n.first->waits_since);
  });
}

wait_graph::rank wait_graph::rank_of(thread const& t) const {
  auto const it = std::ranges::find_if(
      nodes_, [&](node const& n) { return object_of(*n.first) == object_of(t); });
  return {it->upstream, it->kind, it - nodes_.begin()};
}

}  // namespace tw::emu
