// SPDX-License-Identifier: Apache-2.0
// results.cpp  One block of text, or one JSON object, for each kernel.
#include "tools/check/hazards/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/check/hazards/checklist.hpp"
#include "tools/check/hazards/request.hpp"
#include "tools/check/mutants/mutants.hpp"

namespace tw::hazards {

std::string text_of_kernels(std::span<kernel_result const> results, request const& asked) {
  std::string text;
  for (kernel_result const& r : results) {
    text += fmt::format("{}: {} runs, {} elements compared{}\n", r.name, r.runs, r.elements,
                        r.clean() ? "" : fmt::format(", {} runs with findings", r.bad_runs));
    text += text_of(checklist_of(r));
    if (r.runs > 0 && !r.on_gpu && !r.counts.plain_accesses_seen)
      text += "  ordinary loads and stores of the kernel were not seen\n";
    if (r.left_out > 0)
      text += fmt::format(
          "  {} more runs were left out: one has reached the time limit of {:g} s (--timeout)\n",
          r.left_out, asked.time_limit_seconds);
    std::string last;
    for (finding const& f : r.findings) {
      std::string const line = fmt::format(
          "  {} in {} of {} runs{}; again: tilewright check {}\n", f.code.empty() ? f.kind : f.code,
          f.runs, r.runs,
          r.findings.size() == 1 ? "" : fmt::format(", the first report in {}", f.first_in),
          replay_options(asked, r.name, f.first));
      if (line != last) text += line;
      last = line;
    }
    for (finding const& f : r.findings)
      if (!f.code.empty()) {
        text += fmt::format("  what {0} is: tilewright explain {0}\n", f.code);
        break;
      }
  }
  return text;
}

std::string table_of(std::span<kernel_result const> results) {
  std::size_t width = 6;
  for (kernel_result const& r : results) width = std::max(width, r.name.size());
  std::string text = fmt::format("{:<{}}  {:>6}  {:>7}  {:>10}  {:>12}\n", "kernel", width, "runs",
                                 "CTAs", "elements", "with reports");
  for (kernel_result const& r : results)
    text += fmt::format("{:<{}}  {:>6}  {:>7}  {:>10}  {:>12}\n", r.name, width, r.runs,
                        r.counts.ctas, r.elements, r.bad_runs);
  return text;
}

nlohmann::ordered_json json_of_kernels(std::span<kernel_result const> results) {
  auto kernels = nlohmann::ordered_json::array();
  for (kernel_result const& r : results) {
    auto findings = nlohmann::ordered_json::array();
    for (finding const& f : r.findings)
      findings.push_back({{"code", f.code},
                          {"kind", f.kind},
                          {"text", f.text},
                          {"count", f.count},
                          {"runs", f.runs},
                          {"first_in", f.first_in},
                          {"shape", f.first.shape},
                          {"schedule", mutants::schedule_name(f.first.family)},
                          {"seed", f.first.seed}});
    auto lines = nlohmann::ordered_json::array();
    for (checklist_line const& l : checklist_of(r))
      lines.push_back({{"line", l.name}, {"state", name_of(l.state)}, {"detail", l.detail}});
    kernels.push_back({{"name", r.name},
                       {"runs", r.runs},
                       {"left_out_runs", r.left_out},
                       {"bad_runs", r.bad_runs},
                       {"runs_of_two_launches", r.runs_of_two_launches},
                       {"wrong_elements", r.wrong_elements},
                       {"elements", r.elements},
                       {"plain_accesses_seen", r.counts.plain_accesses_seen},
                       {"findings", findings},
                       {"checklist", lines}});
  }
  return {{"kernels", kernels}};
}

kernel_result merged(std::span<kernel_result const> results, std::string name) {
  kernel_result all;
  all.name = std::move(name);
  for (kernel_result const& r : results) {
    all.runs += r.runs;
    all.bad_runs += r.bad_runs;
    all.wrong_elements += r.wrong_elements;
    all.elements += r.elements;
    all.counts.add(r.counts);
  }
  return all;
}

}  // namespace tw::hazards
