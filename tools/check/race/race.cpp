// SPDX-License-Identifier: Apache-2.0
// race.cpp  One run of a kernel under a chosen schedule, with a recording.
#include "tools/check/race/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tilewright/arch/emu/launch.hpp"
#include "tilewright/arch/emu/trace.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/rungs/run.hpp"
#include "tools/check/rungs/rungs.hpp"
#include "tools/io/close_word.hpp"
#include "tools/io/in_quotes.hpp"
#include "tools/io/refuse.hpp"
#include "tools/trace/write_timeline.hpp"

namespace tw::race {
namespace {

constexpr std::array slice_names{"wait",     "barrier",    "arrive",   "issue",
                                 "wait_mma", "wait_store", "epilogue", "fill",
                                 "multiply", "store",      "stuck"};
constexpr std::size_t most_slices = 4000;  // of a timeline in JSON, the earliest first

constexpr int live_clusters = 8;  // at once: the threads of a run fit into a page's 512 MB

/// A small size that gives every role of a rung work: two tiles each way, four steps over K. The
/// rungs that take any extents have tiles of at most 256.
std::array<int, 3> small_size(std::array<int, 3> const& tile) {
  if (tile == std::array{1, 1, 1}) return {512, 512, 256};
  int const extent = 2 * std::max(tile[0], tile[1]);
  return {extent, extent, 4 * tile[2]};
}

specimen of_rung(ladder::rung const& r) {
  specimen s;
  s.name = s.kernel = fmt::format("ladder/{}", r.name);
  s.change = r.idea;
  s.of_ladder = true;
  s.rung = r.number;
  s.rung_name = r.name;
  s.needs = fmt::format("M a multiple of {}, N of {}, K of {}", r.tile[0], r.tile[1], r.tile[2]);
  auto const [m, n, k] = small_size(r.tile);
  s.m = m, s.n = n, s.k = k;
  return s;
}

std::vector<ladder::rung> all_rungs() {
  std::vector<ladder::rung> all = ladder::rungs();
  for (ladder::rung const& r : ladder::blackwell_rungs()) all.push_back(r);
  for (ladder::rung const& r : ladder::breakable_side_rungs()) all.push_back(r);
  return all;
}

std::vector<specimen> made() {
  std::vector<specimen> correct, faulty;
  for (ladder::rung const& r : all_rungs()) correct.push_back(of_rung(r));
  for (ladder::planted_bug const& b : ladder::bugs()) {
    specimen s = of_rung(ladder::rung_of(b));
    s.fault = b.name;
    s.name += "/" + s.fault;
    s.change = b.change;
    s.codes = {std::string(b.code)};
    s.which = static_cast<int>(b.which);
    s.m = b.shape[0], s.n = b.shape[1], s.k = b.shape[2];
    faulty.push_back(s);
  }
  for (mutants::mutant const& m : mutants::all_mutants()) {
    specimen s;
    s.kernel = m.kernel;
    s.fault = m.name;
    s.name = m.name.empty() ? s.kernel : fmt::format("{}/{}", m.kernel, m.name);
    s.change = m.change;
    s.codes.assign(m.codes.begin(), m.codes.end());
    (m.name.empty() ? correct : faulty).push_back(s);
  }
  correct.insert(correct.end(), faulty.begin(), faulty.end());
  return correct;
}

emu::options options_of(request const& r) {
  for (int family = 0; family < mutants::schedule_families; ++family)
    if (mutants::schedule_name(family) == r.schedule) return mutants::schedule(family, r.seed);
  std::string names;
  for (int family = 0; family < mutants::schedule_families; ++family)
    names += (family == 0 ? "" : ", ") + std::string(mutants::schedule_name(family));
  refuse("TW0634", "--schedule", in_quotes(r.schedule), "one of " + names);
}

struct outcome {
  emu::report report;
  std::int64_t wrong = 0;
  bool ended = false;  // the result was compared
};

outcome run_rung(specimen const& s, request const& r, emu::options o) {
  std::vector<ladder::rung> const all = all_rungs();
  ladder::rung const rung =
      *std::ranges::find(all, s.rung_name, [](ladder::rung const& r) { return r.name; });
  std::array<int, 3> const shape =
      r.size > 0 ? std::array{r.size, r.size, r.size} : std::array{s.m, s.n, s.k};
  for (std::size_t i = 0; i < 3; ++i)
    if (shape[i] % rung.tile[i] != 0)
      refuse("TW0680", "problem of " + s.kernel,
             fmt::format("{} x {} x {}", shape[0], shape[1], shape[2]), s.needs, "--size 256");
  o.bank_conflicts = false;
  o.live_clusters = live_clusters;
  o.progress = r.progress;
  o.expected_macs = static_cast<double>(shape[0]) * shape[1] * shape[2];
  ladder::product const x(shape[0], shape[1], shape[2], 1);
  ladder::run_result const result =
      ladder::run(rung, x, static_cast<ladder::bug>(s.which), o, ladder::emulated_sms);
  return {result.report, result.wrong.value_or(0), result.wrong.has_value()};
}

outcome run_mutant(specimen const& s, emu::options o) {
  std::vector<mutants::mutant> const all = mutants::all_mutants();
  auto const m = std::ranges::find_if(
      all, [&](mutants::mutant const& x) { return x.kernel == s.kernel && x.name == s.fault; });
  outcome out;
  o.counted = &out.report.counts;
  mutants::outcome const ran = m->run(m->which, o);
  out.report.seed = o.seed;
  out.report.diagnoses = ran.diagnoses;
  out.wrong = ran.wrong_elements;
  out.ended = ran.diagnoses.empty();
  return out;
}

nlohmann::ordered_json json_of(emu::timeline const& t) {
  using json = nlohmann::ordered_json;
  json rows = json::array(), slices = json::array();
  for (emu::trace_row const& row : t.rows) rows.push_back({{"cta", row.cta}, {"name", row.name}});
  std::vector<emu::trace_slice> by_time = t.slices;
  std::ranges::stable_sort(by_time, {}, &emu::trace_slice::begin);
  if (by_time.size() > most_slices) by_time.resize(most_slices);
  for (emu::trace_slice const& s : by_time)
    slices.push_back({s.row, slice_names.at(static_cast<std::size_t>(s.kind)), s.begin, s.end,
                      s.name, s.detail});
  return {{"run", t.run},
          {"cycles", t.cycles},
          {"rows", rows},
          {"slices", slices},
          {"all_slices", t.slices.size()},
          {"svg", timeline_svg(t)}};
}

nlohmann::ordered_json json_of(specimen const& s) {
  nlohmann::ordered_json j{{"name", s.name},
                           {"kernel", s.kernel},
                           {"fault", s.fault},
                           {"change", s.change},
                           {"codes", s.codes}};
  if (s.of_ladder) {
    j["rung"] = s.rung;
    j["shape"] = {s.m, s.n, s.k};
  }
  return j;
}

}  // namespace

std::vector<specimen> specimens() {
  static std::vector<specimen> const all = made();
  return all;
}

specimen specimen_named(std::string const& name) {
  std::vector<std::string> names;
  for (specimen const& s : specimens()) {
    if (s.name == name) return s;
    names.push_back(s.name);
  }
  refuse("TW0634", "name of a kernel or fault", in_quotes(name),
         "one that `tilewright playground list` prints", did_you_mean(name, names));
}

nlohmann::ordered_json run(request const& r) {
  specimen const s = specimen_named(r.name);
  emu::trace record;
  emu::options o = options_of(r);
  if (r.timeline) o.record = &record;
  outcome const out = s.of_ladder ? run_rung(s, r, o) : run_mutant(s, o);
  nlohmann::ordered_json j{{"specimen", json_of(s)},
                           {"schedule", r.schedule},
                           {"seed", r.seed},
                           {"report", nlohmann::ordered_json::parse(emu::to_json(out.report))},
                           {"wrong_elements", nullptr}};
  if (out.ended) j["wrong_elements"] = out.wrong;
  if (r.timeline) j["timeline"] = json_of(emu::timeline_of(record));
  return j;
}

nlohmann::ordered_json list() {
  auto rows = nlohmann::ordered_json::array();
  for (specimen const& s : specimens()) rows.push_back(json_of(s));
  return {{"specimens", rows}};
}

}  // namespace tw::race
