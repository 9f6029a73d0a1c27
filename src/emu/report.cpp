// SPDX-License-Identifier: Apache-2.0
// report.cpp  Words for threads, places and deadlocks.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "emu/machine.hpp"

namespace tw::emu {

namespace {

std::string joined(std::vector<diagnosis> const& d) {
  std::string text;
  for (diagnosis const& x : d) text += fmt::format("{} {}\n  {}\n", x.code, x.kind, x.text);
  return text;
}

std::string what_it_waits_for(thread const& t) {
  switch (t.waiting) {
    case wait_kind::mbarrier:
    case wait_kind::mbarrier_try: {
      auto const& b = *static_cast<mbarrier_state const*>(t.wait_object);
      return fmt::format("the end of phase {} (parity {}) of the mbarrier at shared memory +{:#x}",
                         b.phase, t.wait_value, b.offset);
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
                         t.wait_value, w.groups_issued, w.groups_done);
    }
    case wait_kind::bulk_group: return fmt::format("its TMA-store group {}", t.wait_value);
    case wait_kind::ldmatrix: return "the other lanes of its warp at ldmatrix";
    case wait_kind::none:
    case wait_kind::finished: break;
  }
  return "nothing";
}

std::string threads_text(std::vector<int> const& ids) {
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

std::string what_never_came(cta_state const& c, mbarrier_state const& b) {
  std::string text = fmt::format("mbarrier +{:#x} of CTA {} (made at {}), phase {}:", b.offset,
                                 c.rank, text_of(b.made_at), b.phase);
  if (b.pending > 0)
    text += fmt::format(" {} of {} arrivals never came;", b.pending, b.count);
  else
    text += fmt::format(" all {} arrivals came;", b.count);
  if (b.tx > 0)
    text += fmt::format(
        " {} bytes expected, {} landed: expect_tx is {} bytes too large or a copy "
        "is missing;",
        b.expected, b.landed, b.tx);
  else if (b.tx < 0)
    text += fmt::format(" {} bytes expected, {} landed: expect_tx never covered them;", b.expected,
                        b.landed);
  text.pop_back();
  return text;
}

}  // namespace

std::string text_of(site s) {
  std::string_view const path = s.file;
  auto const slash = path.rfind('/');
  return fmt::format("{}:{}", slash == path.npos ? path : path.substr(slash + 1), s.line);
}

std::string name_of(thread const& t) {
  return fmt::format("thread {} (CTA {}, warpgroup {}, warp {}, lane {})", t.id, t.cta, t.id / 128,
                     t.id / 32, t.id % 32);
}

std::string deadlock_report(std::vector<std::unique_ptr<cluster_state>> const& clusters) {
  std::string text = "no thread can run and no copy or wgmma is in flight";
  constexpr std::size_t most_lines = 16;
  std::vector<std::string> lines;
  for (auto const& c : clusters) {
    if (c->live_threads == 0) continue;
    for (cta_state const& b : c->ctas) {
      std::map<std::pair<std::string, std::string>, std::vector<int>> groups;  // (wait, site)
      std::vector<mbarrier_state const*> barriers;
      for (thread const& t : b.threads) {
        if (t.waiting == wait_kind::finished || t.waiting == wait_kind::none) continue;
        groups[{what_it_waits_for(t), text_of(t.wait_site)}].push_back(t.id);
        if (t.waiting == wait_kind::mbarrier || t.waiting == wait_kind::mbarrier_try) {
          auto const* bar = static_cast<mbarrier_state const*>(t.wait_object);
          if (std::find(barriers.begin(), barriers.end(), bar) == barriers.end())
            barriers.push_back(bar);
        }
      }
      for (auto const& [key, ids] : groups)
        lines.push_back(fmt::format("CTA {}: threads {} wait at {} for {}", b.threads.front().cta,
                                    threads_text(ids), key.second, key.first));
      for (mbarrier_state const* bar : barriers) lines.push_back("  " + what_never_came(b, *bar));
    }
  }
  for (std::size_t i = 0; i < lines.size() && i < most_lines; ++i) text += "\n  " + lines[i];
  if (lines.size() > most_lines)
    text += fmt::format("\n  ({} more lines)", lines.size() - most_lines);
  return text;
}

fault::fault(std::vector<diagnosis> d) : std::runtime_error(joined(d)), diagnoses_(std::move(d)) {}

}  // namespace tw::emu
