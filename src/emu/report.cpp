// SPDX-License-Identifier: Apache-2.0
// report.cpp  Words for threads, places and deadlocks.
#include <backtrace.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include "emu/machine.hpp"

namespace tw::emu {

namespace {

constexpr int address_line = -1;  // the "file" of such a site is an address of machine code

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
    case wait_kind::copy_group: return fmt::format("its cp.async group {}", t.wait_value);
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

site site_of(void const* return_address) {
  return {static_cast<char const*>(return_address), address_line};
}

namespace {

struct source_place {
  std::string file;
  int line = 0;
};

/// The line of a machine address, from the program's debug information.
source_place source_of(void const* address) {
  static backtrace_state* const state = backtrace_create_state(
      nullptr, 1, [](void*, char const*, int) {}, nullptr);
  source_place found;
  backtrace_pcinfo(
      state, reinterpret_cast<std::uintptr_t>(address) - 1,
      [](void* to, std::uintptr_t, char const* file, int line, char const*) {
        auto& place = *static_cast<source_place*>(to);
        if (file != nullptr && place.line == 0) place = {file, line};
        return 0;
      },
      [](void*, char const*, int) {}, &found);
  return found;
}

}  // namespace

std::string text_of(site s) {
  source_place const place =
      s.line == address_line ? source_of(s.file) : source_place{s.file, s.line};
  if (place.line == 0) return "a place without line information (compile with -g)";
  std::string_view const path = place.file;
  auto const slash = path.rfind('/');
  return fmt::format("{}:{}", slash == path.npos ? path : path.substr(slash + 1), place.line);
}

std::string name_of(thread const& t) {
  return fmt::format("thread {} ({}CTA {}, warpgroup {}, warp {}, lane {})", t.id,
                     *t.role == 0 ? "" : fmt::format("{}, ", t.role), t.cta, t.id / 128, t.id / 32,
                     t.id % 32);
}

namespace {

/// Appends ".member" or "[i]" parts until nothing smaller has a name; the rest is an offset.
std::string place_in(std::span<smem_object const> objects, std::uint32_t offset) {
  for (smem_object const& o : objects) {
    if (offset < o.offset || offset - o.offset >= o.bytes) continue;
    std::string text(o.name);
    std::uint32_t rest = offset - o.offset;
    for (std::uint32_t const bytes : o.element_bytes) {
      if (bytes == 0) break;
      text += fmt::format("[{}]", rest / bytes);
      rest %= bytes;
    }
    if (std::string const inner = place_in(o.members, rest); !inner.empty())
      return text + "." + inner;
    return rest == 0 ? text : fmt::format("{}+{:#x}", text, rest);
  }
  return "";
}

}  // namespace

std::string object_name(grid const& g, cta_state const& c, std::uint32_t offset) {
  std::string text = place_in(g.objects, offset);
  if (text.empty()) text = fmt::format("shared memory +{:#x}", offset);
  return fmt::format("{} of CTA {}", text, c.threads.front().cta);
}

void machine::report_early_phase(cta_state const& c, mbarrier_state const& b) {
  std::string const place = object_name(grid_, c, b.offset);
  report({"E0015",
          "expect-tx-too-small",
          fmt::format("{} (made at {}), phase {}: it completes with {} bytes expected, but copies "
                      "of {} bytes are bound to it, of which {} have landed\n  cause: waiters go "
                      "on before their data is there\n  remedy: expect_tx is the sum of the bytes "
                      "of all boxes that complete on the barrier",
                      place, text_of(b.made_at), b.phase, b.expected, b.face.issued, b.landed),
          b.made_at,
          {},
          place});
}

void machine::report_missed_phase(thread const& t, mbarrier_state const& b, std::uint32_t phase,
                                  site where) {
  std::string const place = object_name(grid_, *t.block, b.offset);
  report({"E0035", "missed-phase",
          fmt::format("{}: {} waits at {} for phase {}, and phase {} has completed too before it "
                      "ran on\n  cause: the barrier does not wait for this thread: it could have "
                      "missed a phase and waited for ever\n  remedy: count an arrive of this "
                      "thread in each phase that it waits for",
                      place, name_of(t), text_of(where), phase, b.phase - 1),
          where, b.made_at, place});
}

void machine::report_other_phase(cta_state const& c, mbarrier_state const& b, bulk_op const& op) {
  std::string const place = object_name(grid_, c, b.offset);
  report(
      {"E0032", "expect-tx-mismatch",
       fmt::format("{} (made at {}): the copy issued at {} in phase {} lands in phase {}\n  "
                   "cause: the phase completed without waiting for these bytes\n  remedy: "
                   "arrive_expect_tx with the bytes of all copies before the copies are issued",
                   place, text_of(b.made_at), text_of(op.where), op.issue_phase[c.rank], b.phase),
       op.where, b.made_at, place});
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

bool report::has(std::string_view code) const {
  return std::any_of(diagnoses.begin(), diagnoses.end(),
                     [&](diagnosis const& d) { return d.code == code; });
}

std::string report::text() const {
  return diagnoses.empty() ? std::string("no hazard was found") : joined(diagnoses);
}

fault::fault(std::vector<diagnosis> d) : std::runtime_error(joined(d)), diagnoses_(std::move(d)) {}

}  // namespace tw::emu
