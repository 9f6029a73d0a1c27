// SPDX-License-Identifier: Apache-2.0
// write_chrome.cpp  The Chrome trace format, "Trace Event Format": JSON array of events.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "tools/trace/write_timeline.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

char const* category(emu::slice_kind k) {
  using enum emu::slice_kind;
  switch (k) {
    case wait: return "wait";
    case barrier: return "barrier";
    case arrive: return "arrive";
    case issue: return "issue";
    case wait_mma: return "wait for wgmma";
    case wait_store: return "wait for stores";
    case epilogue: return "epilogue";
    case fill: return "stage fill";
    case multiply: return "multiply";
    case store: return "store";
    case stuck: return "never released";
  }
  return "";
}

json metadata(char const* what, int pid, int tid, json args) {
  return {{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", std::move(args)}};
}

/// "wait ab_landed[0] phase 1"; the SVG, whose colours say it, leaves the first word out.
std::string full_name(emu::trace_slice const& s) {
  using enum emu::slice_kind;
  if (s.kind == stuck) return "never released: " + s.name;
  return s.kind == wait || s.kind == barrier || s.kind == wait_mma || s.kind == wait_store
             ? "wait " + s.name
             : s.name;
}

}  // namespace

std::string chrome_trace(emu::timeline const& t) {
  std::string out = "[\n";
  bool first = true;
  auto const put = [&](json const& event) {
    out += first ? "" : ",\n";
    out += event.dump(-1, ' ', false, json::error_handler_t::replace);
    first = false;
  };
  std::vector<int> tid;  // of each row: its number in the process, from 1
  int last_cta = -1;
  for (emu::trace_row const& r : t.rows) {
    if (r.cta != last_cta) {
      put(metadata("process_name", r.cta, 0,
                   {{"name", fmt::format("CTA {} (cluster {})", r.cta, r.cluster)}}));
      put(metadata("process_sort_index", r.cta, 0, {{"sort_index", r.cta}}));
      if (last_cta < 0) {
        put(metadata("process_labels", r.cta, 0,
                     {{"labels", "model of time, not a measurement; 1 us is 1 cycle; " + t.run}}));
        json args = {{"run", t.run}, {"model", "docs/timeline.md"}, {"cycles", t.cycles}};
        if (!t.cut_off.empty()) args["cut off"] = t.cut_off;
        put({{"ph", "i"},
             {"name", "run"},
             {"cat", "run"},
             {"s", "g"},
             {"ts", 0},
             {"pid", r.cta},
             {"tid", 1},
             {"args", std::move(args)}});
      }
    }
    tid.push_back(r.cta == last_cta ? tid.back() + 1 : 1);
    last_cta = r.cta;
    put(metadata("thread_name", r.cta, tid.back(), {{"name", r.name}}));
    put(metadata("thread_sort_index", r.cta, tid.back(), {{"sort_index", tid.back()}}));
  }
  auto const row = [&](emu::trace_slice const& s) { return static_cast<std::size_t>(s.row); };
  for (emu::trace_slice const& s : t.slices) {
    json args = json::object();
    if (!s.detail.empty()) args["what"] = s.detail;
    if (s.number >= 0)
      args[s.kind == emu::slice_kind::wait || s.kind == emu::slice_kind::arrive ||
                   s.kind == emu::slice_kind::fill
               ? "phase"
               : "number"] = s.number;
    put({{"ph", "X"},
         {"name", full_name(s)},
         {"cat", category(s.kind)},
         {"ts", s.begin},
         {"dur", s.end - s.begin},
         {"pid", t.rows[row(s)].cta},
         {"tid", tid[row(s)]},
         {"args", std::move(args)}});
  }
  for (std::size_t i = 0; i < t.arrows.size(); ++i) {
    // A flow's ends belong to the slices around them: one cycle before each of them ends.
    auto const end = [&](int slice, char const* ph) -> json {
      emu::trace_slice const& s = t.slices[static_cast<std::size_t>(slice)];
      return {{"ph", ph},        {"name", "releases"},        {"cat", "release"},  {"id", i},
              {"ts", s.end - 1}, {"pid", t.rows[row(s)].cta}, {"tid", tid[row(s)]}};
    };
    put(end(t.arrows[i].from, "s"));
    json to = end(t.arrows[i].to, "f");
    to["bp"] = "e";
    put(to);
  }
  return out + "\n]\n";
}

}  // namespace tw
