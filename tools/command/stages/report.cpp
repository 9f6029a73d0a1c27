// SPDX-License-Identifier: Apache-2.0
// report.cpp  Means of events, shares of the time, trace events.
#include "tools/command/stages/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tools/trace/write_timeline.hpp"

namespace tw::stages {
namespace {

using json = nlohmann::ordered_json;

constexpr kernel_stage stages[] = {kernel_stage::load, kernel_stage::tensor_core,
                                   kernel_stage::store};

char const* name_of(kernel_stage s) { return kernel_stage_names[static_cast<int>(s)]; }

bool has(role_record const& role, kernel_stage stage) {
  return std::ranges::find(role.events, stage, &stage_event::stage) != role.events.end();
}

double cycles_of(role_record const& role) {
  double sum = 0;
  for (stage_event const& e : role.events) sum += static_cast<double>(e.end - e.begin);
  return sum;
}

/// The stages of an H100 in an article: one warpgroup, tiles of 128x128x64, nothing overlaps. Other
/// architectures have other instructions.
std::optional<double> article(run const& r, kernel_stage s) {
  if (r.kernel_with_record->family != "sm90_gemm") return std::nullopt;
  constexpr double cycles[] = {1415, 703, 4572};
  return cycles[static_cast<int>(s)];
}

int lost_of(run const& r) {
  int lost = 0;
  for (role_record const& role : r.roles) lost += role.lost;
  return lost;
}

/// Rows of one run: a process per CTA.
void add_events(run const& r, int first_pid, std::vector<json>& to) {
  for (role_record const& role : r.roles) {
    int const pid = first_pid + role.cta;
    if (role.role == 0) {
      to.push_back({{"ph", "M"},
                    {"name", "process_name"},
                    {"pid", pid},
                    {"tid", 0},
                    {"args", {{"name", fmt::format("{}: stages of CTA {}", r.where, role.cta)}}}});
      to.push_back({{"ph", "M"},
                    {"name", "process_sort_index"},
                    {"pid", pid},
                    {"tid", 0},
                    {"args", {{"sort_index", pid}}}});
    }
    to.push_back(
        {{"ph", "M"},
         {"name", "thread_name"},
         {"pid", pid},
         {"tid", role.role + 1},
         {"args", {{"name", r.kernel_with_record->roles[static_cast<std::size_t>(role.role)]}}}});
    for (stage_event const& e : role.events)
      to.push_back({{"ph", "X"},
                    {"name", name_of(e.stage)},
                    {"cat", "stage"},
                    {"pid", pid},
                    {"tid", role.role + 1},
                    {"ts", e.begin},
                    {"dur", e.end - e.begin},
                    {"args", {{"cycles", r.measured ? "measured" : "model"}}}});
  }
}

}  // namespace

stage_figures figures_of(run const& r, kernel_stage stage) {
  stage_figures f;
  double sum = 0, of_all_stages = 0;
  int roles = 0;
  for (role_record const& role : r.roles) {
    if (!has(role, stage)) continue;
    ++roles;
    of_all_stages += cycles_of(role);
    for (stage_event const& e : role.events) {
      if (e.stage != stage) continue;
      auto const cycles = static_cast<double>(e.end - e.begin);
      f.least = f.count == 0 ? cycles : std::min(f.least, cycles);
      f.most = std::max(f.most, cycles);
      sum += cycles;
      ++f.count;
    }
  }
  if (f.count > 0) f.mean = sum / static_cast<double>(f.count);
  if (roles > 0) f.of_role = sum / roles;
  if (of_all_stages > 0) f.share = sum / of_all_stages;
  return f;
}

std::string report_text(std::vector<run> const& runs) {
  std::string text;
  for (run const& r : runs) {
    text += fmt::format("{}{}: {} x {} x {}, {}\n", text.empty() ? "" : "\n", r.where, r.m, r.n,
                        r.k, r.kernel);
    text += fmt::format("{:<12} {:>8} {:>9} {:>9} {:>9} {:>14} {:>8} {:>9}\n", "stage", "events",
                        "cycles", "least", "most", "of a role", "share", "article");
    for (kernel_stage const s : stages) {
      stage_figures const f = figures_of(r, s);
      auto const known = article(r, s);
      text += fmt::format("{:<12} {:>8} {:>9.0f} {:>9.0f} {:>9.0f} {:>14.0f} {:>6.1f} % {:>9}\n",
                          name_of(s), f.count, f.mean, f.least, f.most, f.of_role, 100 * f.share,
                          known ? fmt::format("{:.0f}", *known) : "-");
    }
    text += r.measured ? "cycles of the SM, measured\n"
                       : "cycles of the timeline's model, not measured (docs/timeline.md)\n";
    if (int const lost = lost_of(r); lost > 0)
      text += fmt::format("the log was full: {} events are missing\n", lost);
    if (!r.correct) text += "D is wrong\n";
  }
  return text;
}

json report_json(std::vector<run> const& runs) {
  json list = json::array();
  for (run const& r : runs) {
    json figures = json::object();
    for (kernel_stage const s : stages) {
      stage_figures const f = figures_of(r, s);
      auto const known = article(r, s);
      std::string name = name_of(s);
      std::ranges::replace(name, ' ', '_');
      figures[name] = {{"events", f.count},
                       {"cycles", f.mean},
                       {"least", f.least},
                       {"most", f.most},
                       {"cycles_of_role", f.of_role},
                       {"share", f.share},
                       {"article_cycles", known ? json(*known) : json()}};
    }
    list.push_back({{"where", r.where},
                    {"measured", r.measured},
                    {"kernel", r.kernel},
                    {"m", r.m},
                    {"n", r.n},
                    {"k", r.k},
                    {"stages", figures},
                    {"lost_events", lost_of(r)},
                    {"correct", r.correct}});
  }
  return {{"runs", list}};
}

std::string chrome_trace(std::vector<run> const& runs) {
  constexpr int pids_of_run = 10000;
  std::vector<json> events;
  int first_pid = pids_of_run;
  for (run const& r : runs) {
    add_events(r, first_pid, events);
    first_pid += pids_of_run;
  }
  std::string text = "[\n";
  for (json const& e : events)
    text += (text.size() > 2 ? ",\n" : "") + e.dump(-1, ' ', false, json::error_handler_t::replace);
  for (run const& r : runs) {
    if (!r.timeline) continue;
    std::string const timeline = tw::chrome_trace(*r.timeline);  // an array of events
    std::size_t const begin = timeline.find('[') + 1, end = timeline.rfind(']');
    text += "," + timeline.substr(begin, end - begin);
  }
  return text + "\n]\n";
}

}  // namespace tw::stages
