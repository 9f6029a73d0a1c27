// SPDX-License-Identifier: Apache-2.0
// rows.cpp  From the times of single threads to rows that can be looked at: the threads of a role
//           (or warp) become one row, in which an operation lasts until its last thread is done.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "emu/trace/model.hpp"
#include "emu/trace/slices.hpp"

namespace tw::emu {

namespace {

char const* policy_name(async_policy p) {
  return p == async_policy::eager ? "eager" : p == async_policy::lazy ? "lazy" : "random";
}

std::string list_of_ctas(std::uint32_t mask, int first) {
  std::string text;
  for (int i = 0; i < 32; ++i)
    if ((mask >> i & 1U) != 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", first + i);
  return text;
}

/// "1-3, 5"
std::string list_of_warps(std::vector<int> const& warps) {
  std::string text;
  for (std::size_t i = 0; i < warps.size();) {
    std::size_t j = i;
    while (j + 1 < warps.size() && warps[j + 1] == warps[j] + 1) ++j;
    text += text.empty() ? "" : ", ";
    text += i == j ? fmt::format("{}", warps[i]) : fmt::format("{}-{}", warps[i], warps[j]);
    i = j + 1;
  }
  return (warps.size() == 1 ? "warp " : "warps ") + text;
}

class row_maker {
 public:
  explicit row_maker(trace_log const& log) : log_(log), played_(play(log)) {
    for (auto const& t : log.threads) slice_of_event_.emplace_back(t.events.size(), -1);
    std::map<std::tuple<int, std::string>, std::uint32_t> names;  // of a cluster
    for (std::size_t i = 0; i < log.barriers.size(); ++i) {
      barrier_log const& b = log.barriers[i];
      auto const index = static_cast<std::uint32_t>(i);
      namesake_.push_back(
          names.try_emplace({b.cta / log.shape.cluster, b.name}, index).first->second);
    }
    slice_of_copy_.assign(log.copies.size(), -1);
    slice_of_commit_.assign(log.commits.size(), -1);
    for (auto const& w : log.warpgroups) slice_of_group_.emplace_back(w.groups.size(), -1);
  }

  timeline make() {
    for (int cta = 0; cta < log_.shape.ctas; ++cta) {
      thread_rows(cta);
      engine_rows(cta);
    }
    for (auto const& [slice, mask] : peers_) {
      trace_slice& s = out_.slices[static_cast<std::size_t>(slice)];
      int const cluster = out_.rows[static_cast<std::size_t>(s.row)].cluster;
      s.detail = "barrier of CTA " + list_of_ctas(mask, cluster * log_.shape.cluster);
    }
    out_.cycles = played_.cycles;
    bool const stuck = std::ranges::any_of(
        out_.slices, [](trace_slice const& s) { return s.kind == slice_kind::stuck; });
    if (stuck) out_.cycles += out_.cycles / 5 + 1;  // a wait that begins last is seen, too
    for (trace_slice& s : out_.slices)
      if (s.kind == slice_kind::stuck) s.end = out_.cycles;
    arrows();
    sort_rows(out_);
    out_.run = fmt::format(
        "seed {}, {} completion{}, {} {} in clusters of {}, {} threads each", log_.seed,
        policy_name(log_.policy), log_.random_warps ? ", random warp order" : "", log_.shape.ctas,
        log_.shape.ctas == 1 ? "CTA" : "CTAs", log_.shape.cluster, log_.shape.threads);
    if (log_.left_out > 0)
      out_.cut_off = fmt::format(
          "the recording holds the first {} events of threads; {} more were left out, and what "
          "depends on them is missing at the end",
          log_.events, log_.left_out);
    return std::move(out_);
  }

 private:
  int add_row(row_kind kind, int cta, bool has_role, std::string name) {
    out_.rows.push_back({kind, cta, cta / log_.shape.cluster, has_role, std::move(name)});
    return static_cast<int>(out_.rows.size()) - 1;
  }

  std::size_t thread_index(int cta, int id) const {
    return static_cast<std::size_t>(cta) * static_cast<std::size_t>(log_.shape.threads) +
           static_cast<std::size_t>(id);
  }

  /// One row per warpgroup and role, one per warp that entered none.
  void thread_rows(int cta) {
    std::vector<std::pair<std::string, std::vector<int>>> groups;  // role, warps
    int const warps = (log_.shape.threads + 31) / 32;
    for (int w = 0; w < warps; ++w) {
      std::string role;
      for (int t = 32 * w; t < std::min(32 * w + 32, log_.shape.threads) && role.empty(); ++t)
        role = log_.threads[thread_index(cta, t)].role;
      bool const joins = !role.empty() && !groups.empty() && groups.back().first == role &&
                         groups.back().second.front() / 4 == w / 4;
      if (!joins) groups.push_back({role, {}});
      groups.back().second.push_back(w);
    }
    for (auto const& [role, members] : groups) {
      std::string const name = list_of_warps(members);
      int const row = add_row(row_kind::warps, cta, !role.empty(),
                              role.empty() ? name : fmt::format("{} ({})", role, name));
      same_.clear();
      for (int const w : members)
        for (int t = 32 * w; t < std::min(32 * w + 32, log_.shape.threads); ++t)
          thread_slices(row, static_cast<std::uint32_t>(thread_index(cta, t)));
    }
  }

  /// An arrive at a barrier of threads that the thread waits for next: the wait shows both.
  static bool shown_by_wait(std::vector<trace_event> const& events, std::size_t i) {
    return i + 1 < events.size() && events[i + 1].what == act::wait &&
           events[i + 1].object == events[i].object && events[i + 1].value == events[i].value;
  }

  void thread_slices(int row, std::uint32_t thread) {
    auto const& events = log_.threads[thread].events;
    std::map<operation, int> seen;
    for (std::size_t i = 0; i < events.size(); ++i) {
      trace_event const& e = events[i];
      trace_span const& s = played_.events[thread][i];
      if (s.begin < 0) break;
      if (e.what == act::clock) continue;  // no row shows it: clock_times()
      bool const of_threads =
          e.what == act::arrive && log_.barriers[e.object].what != barrier_log::kind::mbarrier;
      if (of_threads && shown_by_wait(events, i)) continue;
      if (s.end < 0 && log_.left_out > 0) break;  // its end may be what was left out
      // The threads' n-th access of memory is one operation, wherever each of them goes.
      bool const access = e.what == act::matrix_store || e.what == act::matrix_load ||
                          e.what == act::plain || e.what == act::global_store;
      // So are their arrives at the barrier of that name in each CTA of the cluster, and stores.
      bool const to_peers = e.what == act::arrive || e.what == act::store_async;
      std::uint32_t const object = to_peers ? namesake_[e.object] : e.object;
      operation key{e.what, object, access ? 0 : e.value, 0};
      std::get<3>(key) = seen[key]++;
      auto const [at, is_new] = same_.try_emplace(key, static_cast<int>(out_.slices.size()));
      if (is_new) {
        out_.slices.push_back(slice_of(log_, e));
        out_.slices.back().row = row;
        out_.slices.back().begin = s.begin;
        causes_.resize(out_.slices.size());
      }
      slice_of_event_[thread][i] = at->second;
      if (to_peers) peers_[at->second] |= 1U << log_.barriers[e.object].cta % log_.shape.cluster;
      trace_slice& slice = out_.slices[static_cast<std::size_t>(at->second)];
      slice.begin = std::max(slice.begin, s.begin);
      if (s.end < 0) slice.kind = slice_kind::stuck;
      if (s.end <= slice.end) continue;
      slice.end = std::max(s.end, s.begin + 1);
      causes_[static_cast<std::size_t>(at->second)] = s.cause;
    }
  }

  void engine_rows(int cta) {
    copies(cta, true);
    for (int w = 0; w < log_.groups_per_cta; ++w) multiplies(cta, w);
    tensor_multiplies(cta);
    copies(cta, false);
  }

  /// Whether some barrier waits for both in the same phase.
  static bool land_together(copy_log const& a, copy_log const& b) {
    return std::ranges::any_of(a.landings, [&](auto const& x) {
      return std::ranges::any_of(
          b.landings, [&](auto const& y) { return x.barrier == y.barrier && x.round == y.round; });
    });
  }

  /// Loads of one barrier and phase are one slice, if nothing comes between them.
  void copies(int cta, bool loads) {
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < log_.copies.size(); ++i)
      if (log_.copies[i].cta == cta && log_.copies[i].load == loads && played_.copies[i].begin >= 0)
        mine.push_back(i);
    if (mine.empty()) return;
    std::stable_sort(mine.begin(), mine.end(), [&](std::size_t a, std::size_t b) {
      return played_.copies[a].begin < played_.copies[b].begin;
    });
    int const row = add_row(loads ? row_kind::tma_loads : row_kind::tma_stores, cta, false,
                            loads ? "TMA loads" : "TMA stores");
    copy_log const* last = nullptr;
    std::int64_t bytes = 0;
    std::uint32_t ctas = 0;
    std::string boxes;
    for (std::size_t const i : mine) {
      copy_log const& c = log_.copies[i];
      bool const joins =
          loads && last != nullptr && last->thread == c.thread && land_together(*last, c);
      if (!joins) {
        trace_slice s;
        s.row = row;
        s.kind = loads ? slice_kind::fill : slice_kind::store;
        s.begin = played_.copies[i].begin;
        out_.slices.push_back(std::move(s));
        bytes = 0;
        ctas = 0;
        boxes.clear();
      }
      trace_slice& s = out_.slices.back();
      s.end = played_.copies[i].end;
      bytes += c.bytes;
      ctas |= c.cta_mask;
      if (boxes.find(c.box) == std::string::npos) boxes += (boxes.empty() ? "" : ", ") + c.box;
      if (loads && !c.landings.empty()) {
        copy_log::landing const l = c.landings.front();
        s.number = l.round;
        s.name = fmt::format("fill {}", boxes);
        s.detail = fmt::format("{} bytes to CTA {}, for {} phase {}", bytes,
                               list_of_ctas(ctas, cta / log_.shape.cluster * log_.shape.cluster),
                               log_.barriers[l.barrier].name, l.round);
      } else {
        s.number = loads ? -1 : static_cast<std::int64_t>(c.group) + 1;
        s.name = fmt::format("{} {}", loads ? "fill" : c.add ? "add" : "store", boxes);
        s.detail = loads ? fmt::format("{} bytes, never landed", bytes)
                         : fmt::format("{} bytes, store group {}", bytes, c.group + 1);
      }
      slice_of_copy_[i] = static_cast<int>(out_.slices.size()) - 1;
      last = &c;
    }
    causes_.resize(out_.slices.size());
  }

  void multiplies(int cta, int index) {
    auto const w = static_cast<std::size_t>(cta * log_.groups_per_cta + index);
    int row = -1;
    for (std::size_t g = 0; g < log_.warpgroups[w].groups.size(); ++g) {
      group_log const& group = log_.warpgroups[w].groups[g];
      trace_span const& s = played_.groups[w][g];
      if (s.begin < 0 || s.end == s.begin) continue;
      if (row < 0)
        row = add_row(row_kind::tensor_core, cta, false,
                      fmt::format("tensor core, warpgroup {}", index));
      slice_of_group_[w][g] = static_cast<int>(out_.slices.size());
      out_.slices.push_back({row, slice_kind::multiply, s.begin, s.end,
                             fmt::format("wgmma group {}", g + 1),
                             fmt::format("{} x m64n{}, {}", group.steps, group.n, group.operands),
                             static_cast<std::int64_t>(g) + 1});
    }
    causes_.resize(out_.slices.size());
  }

  /// Of tcgen05, a slice for each commit; a pair's slices are in the rows of both CTAs.
  void tensor_multiplies(int cta) {
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < log_.commits.size(); ++i) {
      commit_log const& c = log_.commits[i];
      if (c.cycles > 0 && c.cta <= cta && cta < c.cta + c.ctas && played_.commits[i].begin >= 0)
        mine.push_back(i);
    }
    if (mine.empty()) return;
    std::ranges::stable_sort(mine, {}, [&](std::size_t i) { return played_.commits[i].begin; });
    int const row = add_row(row_kind::tensor_core, cta, false, "tensor core");
    for (std::size_t k = 0; k < mine.size(); ++k) {
      commit_log const& c = log_.commits[mine[k]];
      trace_span const& s = played_.commits[mine[k]];
      if (cta == c.cta) slice_of_commit_[mine[k]] = static_cast<int>(out_.slices.size());
      out_.slices.push_back({row, slice_kind::multiply, s.begin, s.end,
                             fmt::format("multiplies {}", k + 1),
                             fmt::format("{} x m{}n{}, {}", c.steps, c.m, c.n, c.operands),
                             static_cast<std::int64_t>(k) + 1});
    }
    causes_.resize(out_.slices.size());
  }

  void arrows() {
    for (std::size_t i = 0; i < out_.slices.size(); ++i) {
      trace_cause const& c = causes_[i];
      int from = -1;
      if (c.what == trace_cause::kind::event) from = slice_of_event_[c.owner][c.index];
      if (c.what == trace_cause::kind::copy) from = slice_of_copy_[c.owner];
      if (c.what == trace_cause::kind::commit) from = slice_of_commit_[c.owner];
      if (c.what == trace_cause::kind::group) from = slice_of_group_[c.owner][c.index];
      if (from >= 0 && out_.slices[i].kind != slice_kind::stuck)
        out_.arrows.push_back({from, static_cast<int>(i)});
    }
  }

  using operation = std::tuple<act, std::uint32_t, std::int32_t, int>;  // and which time
  trace_log const& log_;
  played_log played_;
  timeline out_;
  std::map<operation, int> same_;        // operations of the row's threads: one slice each
  std::vector<std::uint32_t> namesake_;  // of a barrier: the first of its name in the cluster
  std::map<int, std::uint32_t> peers_;   // of an arrive's slice: CTAs of the cluster it goes to
  std::vector<trace_cause> causes_;
  std::vector<std::vector<int>> slice_of_event_, slice_of_group_;
  std::vector<int> slice_of_copy_, slice_of_commit_;
};

}  // namespace

timeline timeline_of(trace const& recorded) { return row_maker(recorded.log()).make(); }

}  // namespace tw::emu
