// SPDX-License-Identifier: Apache-2.0
// deadlock.cpp  The report of a deadlock: who waits where for what, and what never came.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "emu/barrier/wait_graph.hpp"
#include "emu/machine/machine.hpp"

namespace tw::emu {

// Threads of several CTAs that wait for the same are one line.
std::string what_it_waits_for(grid const& g, thread const& t) {
  switch (t.waiting) {
    case wait_kind::mbarrier:
    case wait_kind::mbarrier_try: {
      auto const& b = *static_cast<mbarrier_state const*>(t.wait_object);
      return fmt::format("the end of phase {} (parity {}) of {}", b.phase, t.wait_value,
                         object_name(g, b.offset));
    }
    case wait_kind::named_barrier: {
      auto const& b = *static_cast<group_barrier const*>(t.wait_object);
      return t.wait_value == 0 && b.expected == t.thread_count
                 ? fmt::format("cta_sync ({} of {} threads came)", b.arrived, b.expected)
                 : fmt::format("named barrier {} ({} of {} threads came)", t.wait_value, b.arrived,
                               b.expected);
    }
    case wait_kind::cluster_barrier: {
      auto const& b = *static_cast<group_barrier const*>(t.wait_object);
      return fmt::format("the cluster barrier ({} of {} threads came)", b.arrived, b.expected);
    }
    case wait_kind::warp_barrier: {
      auto const& b = *static_cast<group_barrier const*>(t.wait_object);
      return fmt::format("warp_sync ({} of {} lanes came)", b.arrived, b.expected);
    }
    case wait_kind::wgmma_group: {
      auto const& w = *static_cast<warpgroup_state const*>(t.wait_object);
      return fmt::format("wgmma group {} ({} groups committed by all 128 threads, {} finished)",
                         t.wait_value - 1, w.groups_issued, w.groups_done);
    }
    case wait_kind::bulk_group: return fmt::format("its TMA-store group {}", t.wait_value - 1);
    case wait_kind::copy_group: return fmt::format("its cp.async group {}", t.wait_value - 1);
    case wait_kind::ldmatrix: return "the other lanes of its warp at ldmatrix";
    case wait_kind::exchange:
      return fmt::format("the other lanes of its warp at {}",
                         static_cast<char const*>(t.wait_object));
    case wait_kind::tensor_step:
      return fmt::format("the other lanes of its warp at {}",
                         static_cast<tensor_step const*>(t.wait_object)->name);
    case wait_kind::tensor_columns: {
      tensor_memory const& m = *static_cast<cta_state const*>(t.wait_object)->tensor;
      std::string text = fmt::format("{} columns of tensor memory{}", t.wait_value,
                                     m.wanted ? " in both CTAs of its pair" : "");
      if (!m.held_by) return text;
      return text + fmt::format(
                        "; CTA {} of the SM has {} its tmem_alloc at {}", m.held_by->cta,
                        m.held_by->permit ? "not relinquished the right to more after" : "those of",
                        text_of(m.held_by->where));
    }
    case wait_kind::registers: return fmt::format("{} registers", t.wait_value);
    case wait_kind::none:
    case wait_kind::finished: break;
  }
  return "nothing";
}

std::string ranges_text(std::vector<int> const& ids) {
  std::string text;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t j = i;
    while (j + 1 < ids.size() && ids[j + 1] == ids[j] + 1) ++j;
    if (!text.empty()) text += ", ";
    text += j == i ? fmt::format("{}", ids[i]) : fmt::format("{}-{}", ids[i], ids[j]);
    i = j + 1;
  }
  return text;
}

namespace {

char const* plural(std::size_t n) { return n == 1 ? "" : "s"; }

std::string what_never_came(mbarrier_state const& b) {
  std::string text;
  if (b.pending > 0)
    text = fmt::format("{} of {} arrivals never came", b.pending, b.count);
  else
    text = fmt::format("{} of {} arrivals came", b.count, b.count);
  if (b.tx != 0) text += fmt::format("; {} bytes expected, {} landed", b.expected, b.landed);
  return text;
}

/// Lines of a report by rank; lines of one rank in the order in which they were added. A line that
/// is added for several CTAs stands once and names them.
class by_cta {
 public:
  void add(std::string text, int cta, wait_graph::rank const& rank) {
    auto const it =
        std::find_if(lines_.begin(), lines_.end(), [&](line const& x) { return x.text == text; });
    if (it == lines_.end())
      lines_.insert(std::upper_bound(lines_.begin(), lines_.end(), rank,
                                     [](auto const& r, line const& x) { return r < x.rank; }),
                    {std::move(text), {cta}, rank});
    else if (it->ctas.back() != cta)
      it->ctas.push_back(cta);
  }
  /// At most `most` of them, with {} in the text for "CTAs 0, 1", then how many are left out.
  std::string text(int wanted) const {
    std::string all;
    auto const most = static_cast<std::size_t>(wanted);
    for (std::size_t i = 0; i < std::min(most, lines_.size()); ++i) {
      line const& x = lines_[i];
      std::string const who = fmt::format("CTA{} {}", plural(x.ctas.size()), ranges_text(x.ctas));
      all += "\n  " + fmt::format(fmt::runtime(x.text), who);
    }
    if (lines_.size() > most) all += fmt::format("\n  ({} more like these)", lines_.size() - most);
    return all;
  }

 private:
  struct line {
    std::string text;
    std::vector<int> ctas;
    wait_graph::rank rank;
  };
  std::vector<line> lines_;
};

/// Doubles the braces of a text that becomes part of a format string; a path may have braces.
std::string literal(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (char const c = text[i]; c == '{' || c == '}') text.insert(++i, 1, c);
  return text;
}

/// The thread whose wait a reader should look at first: the most upstream wait of all clusters.
struct culprit {
  cluster_state const* cluster = nullptr;
  thread const* waits = nullptr;
  int upstream = 0, kind = 0;
};

struct advice {
  std::string missing, cause, remedy;
};

/// "full[0]", or what else the thread waits for.
std::string short_object(grid const& g, thread const& t) {
  mbarrier_state const* const b = mbarrier_of(t);
  std::string const what = b != nullptr ? object_name(g, b->offset) : what_it_waits_for(g, t);
  return what.substr(0, what.find(" ("));
}

/// "arrivals of threads 0-127 (consumer, CTA 0), which arrived before and now wait for full[0]".
std::string text_of_missing(grid const& g, std::vector<thread const*> const& who) {
  std::vector<int> ids;
  bool all_ended = true, same = true;
  for (thread const* const t : who) {
    if (t->cta != who.front()->cta) continue;
    ids.push_back(t->id);
    all_ended = all_ended && t->waiting == wait_kind::finished;
    same = same && short_object(g, *t) == short_object(g, *who.front());
  }
  thread const& first = *who.front();
  bool const one = ids.size() == 1;
  std::string const now = all_ended ? (one ? "has ended" : "have ended")
                          : !same   ? "wait elsewhere now"
                          : first.waiting == wait_kind::none
                              ? (one ? "still runs" : "still run")
                              : (one ? "now waits for " : "now wait for ") + short_object(g, first);
  return fmt::format("arrivals of thread{} {} ({}CTA {}), which arrived before and {}",
                     plural(ids.size()), ranges_text(ids),
                     *first.role == 0 ? "" : fmt::format("{}, ", first.role), first.cta, now);
}

/// How many phases have ended since the last one whose end t has seen: none, if t waits for each.
std::int64_t skipped_phases(thread const& t, mbarrier_state const& b) {
  auto const id = static_cast<std::size_t>(t.id);
  if (id >= b.face.seen.size()) return 0;
  std::uint32_t const seen = b.face.seen[id] & ~(1U << 31);
  return static_cast<std::int64_t>(b.phase) - (seen == 0 ? 0 : seen - 1);
}

advice advice_for(grid const& g, culprit const& c) {
  mbarrier_state const* const b = mbarrier_of(*c.waits);
  if (b == nullptr)
    return {"", "some threads never come to the barrier at which the others wait",
            "all threads that a barrier counts must reach it, on every path through the kernel"};
  if (b->tx > 0)
    return {"", fmt::format("expect_tx is {} bytes too large or a copy is missing", b->tx),
            "expect_tx is the sum of the bytes of all boxes that land in this CTA, multicasts of "
            "its peers included, and of 16 for each store_async"};
  if (b->tx < 0)
    return {"", fmt::format("expect_tx never covered the {} bytes that landed", b->landed),
            "arrive_expect_tx with the bytes of all copies before the copies are issued"};
  std::vector<thread const*> const missing = missing_arrivals(*c.cluster, *b);
  std::string const who = missing.empty() ? "" : text_of_missing(g, missing);
  if (std::int64_t const skipped = skipped_phases(*c.waits, *b);
      skipped > 1 && b->pending == b->count)
    return {"",
            fmt::format("{} phases have ended since the waiting thread last saw one end: in one "
                        "turn the barrier gets more arrivals than the {} that init() counts, a "
                        "multiple of them",
                        skipped, b->count),
            "init() with all arrives of one turn, each thread and each commit counted; or an "
            "arrive of one lane, where init() counts warps"};
  if (b->pending == b->count && b->phase > 0)
    return {who,
            fmt::format("no thread arrived in phase {}: an arrive is missing, or the wait has a "
                        "later phase's parity",
                        b->phase),
            "find the thread that should arrive; the k-th wait on a barrier, from 0, takes parity "
            "k & 1"};
  if (!missing.empty())
    return {who, "an arrive is missing in a later turn, or comes after a wait that needs it",
            "the arrive in every turn of their loop, on every path, before that wait"};
  return {"", "an arrive is missing on some path, or init() counts too many",
          "init() counts every arrive of one phase: threads, and 1 for each arrive_expect_tx"};
}

}  // namespace

diagnosis deadlock_report(grid const& g,
                          std::vector<std::unique_ptr<cluster_state>> const& clusters,
                          int most_lines) {
  // Rank, role, place, for what.
  using waiting_at = std::tuple<wait_graph::rank, std::string, std::string, std::string>;
  wait_graph::rank const last = {std::numeric_limits<int>::max(), 0, 0};
  diagnosis d;
  d.code = "E0001";
  d.kind = "deadlock";
  by_cta waits, missing;
  culprit first;
  for (auto const& c : clusters) {
    if (c->live_threads == 0) continue;
    wait_graph const graph(*c);
    if (!graph.nodes().empty()) {
      wait_graph::node const& n = graph.nodes().front();
      if (first.waits == nullptr ||
          std::tuple(n.upstream, n.kind) < std::tuple(first.upstream, first.kind))
        first = {c.get(), n.first, n.upstream, n.kind};
    }
    for (cta_state& b : c->ctas) {
      std::map<waiting_at, std::vector<int>> groups;
      std::vector<int> ended;
      for (thread const& t : b.threads) {
        if (t.waiting == wait_kind::finished) ended.push_back(t.id);
        if (t.waiting == wait_kind::finished || t.waiting == wait_kind::none) continue;
        groups[{graph.rank_of(t), t.role, text_of(t.wait_site), what_it_waits_for(g, t)}].push_back(
            t.id);
      }
      int const cta = b.threads.front().cta;
      for (auto const& [key, ids] : groups) {
        auto const& [rank, role, place, what] = key;
        waits.add(
            literal(fmt::format("waiting: thread{} {} of ", plural(ids.size()), ranges_text(ids))) +
                "{}" +
                literal(fmt::format("{}{}{}, at {}, for {}", role.empty() ? "" : " (", role,
                                    role.empty() ? "" : ")", place, what)),
            cta, rank);
      }
      if (!ended.empty())
        waits.add(
            fmt::format("ended: thread{} {} of ", plural(ended.size()), ranges_text(ended)) + "{}",
            cta, last);
    }
    for (wait_graph::node const& n : graph.nodes()) {
      thread const& t = *n.first;
      mbarrier_state const* const bar = mbarrier_of(t);
      if (bar == nullptr) continue;
      missing.add(literal(fmt::format("barrier: {} of ", object_name(g, bar->offset))) + "{}" +
                      literal(fmt::format(" (init at {}), phase {}: {}", text_of(bar->made_at),
                                          bar->phase, what_never_came(*bar))),
                  t.cta, graph.rank_of(t));
    }
  }
  advice a;
  if (thread const* const t = first.waits) {
    mbarrier_state const* const bar = mbarrier_of(*t);
    d.where = t->wait_site;
    if (bar != nullptr) {
      d.object = object_name(g, *t->block, bar->offset);
      d.phase = bar->phase;
      d.cta = t->cta;
      d.thread = t->id;
      d.role = t->role;
    }
    bool const held = t->waiting == wait_kind::tensor_columns && first.kind == 0;
    if (held) d.object = fmt::format("tensor memory of CTA {}", t->cta);
    a = held
            ? advice{"",
                     "CTAs of an SM share its tensor memory: one of them waits for columns, or for "
                     "the right to allocate, that another one keeps",
                     "tmem_relinquish after a CTA's last tmem_alloc, and tmem_dealloc before it "
                     "waits for another CTA"}
            : advice_for(g, first);
  }
  // As many barriers and waits as there is room for, printed.
  for (auto const& [barriers, waiting] : {std::pair{2, 3}, {2, 2}, {1, 2}, {1, 1}}) {
    d.text = "No thread can run, and no copy or wgmma is in flight that could let one go on.";
    d.text += missing.text(barriers) + waits.text(waiting);
    if (!a.missing.empty()) d.text += "\n  missing: " + a.missing;
    d.text += "\n  cause: " + a.cause + "\n  remedy: " + a.remedy;
    std::string const printed = to_text(d);
    if (std::count(printed.begin(), printed.end(), '\n') < most_lines) break;
  }
  return d;
}

void add_residency(diagnosis& d, grid const& g, std::int64_t started, int live_ctas) {
  if (started >= g.ctas) return;
  std::size_t const cause = d.text.find("\n  cause: ");
  d.text = d.text.substr(0, cause) +
           fmt::format(
               "\n  missing: CTAs {}-{}, which have not started\n  cause: {} CTAs run at "
               "a time; the next one starts when one of them has ended, and these wait\n"
               "  remedy: if the polled word is written by a CTA that has not started: no more "
               "CTAs than the device holds at once (persistent CTAs that loop over the work), or "
               "waits for CTAs of lower numbers alone",
               started, g.ctas - 1, live_ctas);
}

diagnosis polling_report(grid const& g, std::vector<std::unique_ptr<cluster_state>> const& clusters,
                         thread const& t, site where) {
  diagnosis d = deadlock_report(g, clusters, 9);
  if (d.object.empty())  // no mbarrier lacks anything
    d.text =
        d.text.substr(0, d.text.find("\n  cause: ")) +
        "\n  cause: no thread that could still run writes the word that it polls\n  remedy: check "
        "the value that it compares with, and that those who write it need not wait for it";
  d.text = fmt::format(
      "A thread polls for what never comes.\n  now: poll at {} by {}; no other "
      "thread arrived, copied, multiplied or changed a flag meanwhile{}",
      text_of(where), name_of(t), d.text.substr(std::min(d.text.size(), d.text.find('\n'))));
  d.where = where;
  return d;
}

}  // namespace tw::emu
