// SPDX-License-Identifier: Apache-2.0
// deadlock.cpp  The report of a deadlock: who waits where for what, and what never came.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "emu/machine.hpp"

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

struct advice {
  std::string cause, remedy;
};

/// From the first barrier that lacks something.
advice advice_for(mbarrier_state const* b) {
  if (b == nullptr)
    return {"some threads never come to the barrier at which the others wait",
            "all threads that a barrier counts must reach it, on every path through the kernel"};
  if (b->tx > 0)
    return {fmt::format("expect_tx is {} bytes too large or a copy is missing", b->tx),
            "expect_tx is the sum of the bytes of all boxes that land in this CTA, multicasts of "
            "its peers included, and of 16 for each store_async"};
  if (b->tx < 0)
    return {fmt::format("expect_tx never covered the {} bytes that landed", b->landed),
            "arrive_expect_tx with the bytes of all copies before the copies are issued"};
  if (b->pending == b->count && b->phase > 0)
    return {
        fmt::format("no thread arrived in phase {}: an arrive is missing on some path, or the wait "
                    "has the parity of a phase too late",
                    b->phase),
        "find the thread that should arrive; the k-th wait on a barrier, counted from 0, takes "
        "parity k & 1"};
  return {"an arrive is missing on some path, or init() counts too many",
          "init() counts every arrive of one phase: threads, and 1 for each arrive_expect_tx"};
}

/// Lines by rank, then in the order in which they first occurred, each with the
/// CTAs that it is true of.
class by_cta {
 public:
  void add(std::string text, int cta, int rank) {
    auto const it =
        std::find_if(lines_.begin(), lines_.end(), [&](line const& x) { return x.text == text; });
    if (it == lines_.end())
      lines_.insert(std::upper_bound(lines_.begin(), lines_.end(), rank,
                                     [](int r, line const& x) { return r < x.rank; }),
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
    int rank;
  };
  std::vector<line> lines_;
};

/// fmt would take braces in a text (a path may hold them) for its own.
std::string literal(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (char const c = text[i]; c == '{' || c == '}') text.insert(++i, 1, c);
  return text;
}

}  // namespace

diagnosis deadlock_report(grid const& g,
                          std::vector<std::unique_ptr<cluster_state>> const& clusters,
                          int most_lines) {
  // How near it is to the cause, role, place, for what.
  using waiting_at = std::tuple<int, std::string, std::string, std::string>;
  diagnosis d;
  d.code = "E0001";
  d.kind = "deadlock";
  by_cta waits, missing;
  mbarrier_state const* lacking = nullptr;
  thread const* without_columns = nullptr;  // that another CTA of its SM holds
  for (auto const& c : clusters) {
    if (c->live_threads == 0) continue;
    for (cta_state& b : c->ctas) {
      std::map<waiting_at, std::vector<int>> groups;
      std::vector<int> ended;
      std::vector<mbarrier_state const*> barriers;
      for (thread const& t : b.threads) {
        if (t.waiting == wait_kind::finished) ended.push_back(t.id);
        if (t.waiting == wait_kind::finished || t.waiting == wait_kind::none) continue;
        bool const held = t.waiting == wait_kind::tensor_columns &&
                          static_cast<cta_state const*>(t.wait_object)->tensor->held_by;
        if (held) without_columns = &t;
        bool const on_mbarrier =
            t.waiting == wait_kind::mbarrier || t.waiting == wait_kind::mbarrier_try;
        auto const* bar = on_mbarrier ? static_cast<mbarrier_state const*>(t.wait_object) : nullptr;
        int const rank = held || (bar != nullptr && bar->tx != 0) ? 0 : bar != nullptr ? 1 : 2;
        groups[{rank, t.role, text_of(t.wait_site), what_it_waits_for(g, t)}].push_back(t.id);
        if (d.where.line == 0) d.where = t.wait_site;
        if (bar == nullptr) continue;
        if (std::find(barriers.begin(), barriers.end(), bar) == barriers.end())
          barriers.push_back(bar);
        if (lacking != nullptr && (lacking->tx != 0 || bar->tx == 0)) continue;
        lacking = bar;
        d.where = t.wait_site;
        d.object = object_name(g, b, bar->offset);
        d.phase = bar->phase;
        d.cta = t.cta;
        d.thread = t.id;
        d.role = t.role;
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
            cta, 3);
      for (mbarrier_state const* bar : barriers)
        missing.add(literal(fmt::format("barrier: {} of ", object_name(g, bar->offset))) + "{}" +
                        literal(fmt::format(" (init at {}), phase {}: {}", text_of(bar->made_at),
                                            bar->phase, what_never_came(*bar))),
                    cta, bar->tx != 0 ? 0 : 1);
    }
  }
  if (lacking == nullptr && without_columns != nullptr) {
    d.where = without_columns->wait_site;
    d.object = fmt::format("tensor memory of CTA {}", without_columns->cta);
  }
  advice const a = lacking == nullptr && without_columns != nullptr
                       ? advice{"CTAs of an SM share its tensor memory: one of them waits for "
                                "columns, or for the right to allocate, that another one keeps",
                                "tmem_relinquish after a CTA's last tmem_alloc, and tmem_dealloc "
                                "before it waits for another CTA"}
                       : advice_for(lacking);
  // As many barriers and waits as there is room for, printed.
  for (auto const& [barriers, waiting] : {std::pair{2, 3}, {2, 2}, {1, 2}, {1, 1}}) {
    d.text = "No thread can run, and no copy or wgmma is in flight that could let one go on.";
    d.text += missing.text(barriers) + waits.text(waiting);
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
               "  remedy: if they wait for a CTA that has not started: no more CTAs than "
               "the device holds at once (persistent CTAs that loop over the work), or "
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
