// SPDX-License-Identifier: Apache-2.0
// mutants_check.cpp  Judges every mutant; prints one line for each.
#include "tools/check/hazards/mutants_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/check/mutants/mutants.hpp"
#include "tools/io/progress_bar.hpp"

namespace tw::hazards {

namespace {

constexpr int default_mutant_seeds = 2;

mutant_row row_of(mutants::mutant const& m, mutants::verdict const& v) {
  mutant_row row;
  row.name = fmt::format("{}/{}", m.kernel, m.name);
  row.code = m.codes.front();
  row.caught = v.caught;
  row.runs = v.runs;
  row.change = m.change;
  row.expects.assign(m.codes.begin(), m.codes.end());
  if (!v.example.code.empty())
    row.example = emu::to_text(v.example);
  else if (v.caught != 0)
    row.example =
        fmt::format("No report: the result is wrong in {} of {} runs.", v.wrong_results, v.runs);
  for (std::string const& code : v.seen)
    if (std::ranges::find(m.codes, code) != m.codes.end()) {
      row.code = code;
      break;
    }
  if (v.caught != v.runs) row.seen = fmt::format("{}", fmt::join(v.seen, " "));
  return row;
}

}  // namespace

bool mutants_result::good() const {
  return false_reports == 0 &&
         std::ranges::all_of(mutants, [](mutant_row const& m) { return m.caught == m.runs; });
}

mutants_result check_mutants(request const& r) {
  std::vector<mutants::mutant> all = mutants::all_mutants();
  std::erase_if(all, [&](mutants::mutant const& m) {
    return fmt::format("{}/{}", m.kernel, m.name).find(r.kernel) == std::string::npos;
  });
  std::vector<int> const families = families_of(r);
  mutants_result result;
  progress_bar bar(!r.quiet);
  double done = 0;
  for (mutants::mutant const& m : all) {
    mutants::verdict const v =
        mutants::judge(m, families, r.seeds > 0 ? r.seeds : default_mutant_seeds, r.first_seed);
    if (m.name.empty()) {
      ++result.correct_kernels;
      result.correct_runs += v.runs;
      result.false_reports += v.caught + v.other + v.wrong_results;
      if (!v.example.code.empty())
        result.false_text += fmt::format("{}: {} {}\n  {}\n", m.kernel, v.example.code,
                                         v.example.kind, v.example.text);
    } else {
      result.mutants.push_back(row_of(m, v));
    }
    bar.update(++done / static_cast<double>(all.size()));
  }
  return result;
}

nlohmann::ordered_json to_json(mutants_result const& m, bool examples) {
  auto rows = nlohmann::ordered_json::array();
  for (mutant_row const& x : m.mutants) {
    rows.push_back({{"name", x.name}, {"code", x.code}, {"caught", x.caught}, {"runs", x.runs}});
    if (!examples) continue;
    rows.back()["change"] = x.change;
    rows.back()["expects"] = x.expects;
    rows.back()["example"] = x.example;
  }
  nlohmann::ordered_json j{{"mutants", rows}, {"false_reports", m.false_reports}};
  if (examples) {
    j["correct_kernels"] = m.correct_kernels;
    j["correct_runs"] = m.correct_runs;
  }
  return j;
}

std::string text_of(mutants_result const& m, bool examples) {
  std::size_t width = 6, code_width = 5;
  for (mutant_row const& x : m.mutants) {
    width = std::max(width, x.name.size());
    code_width = std::max(code_width, x.code.size());
  }
  std::string text = fmt::format("{:<{}}  {:<{}}  caught\n", "mutant", width, "code", code_width);
  int caught = 0, runs = 0;
  std::size_t whole = 0;
  for (mutant_row const& x : m.mutants) {
    text += fmt::format("{:<{}}  {:<{}}  {} of {}{}\n", x.name, width, x.code, code_width, x.caught,
                        x.runs,
                        x.caught == x.runs ? ""
                        : x.seen.empty()   ? "   NOT CAUGHT: no report"
                                           : "   NOT CAUGHT: reports " + x.seen);
    if (examples) text += fmt::format("\n{}: {}\n{}\n\n", x.name, x.change, x.example);
    caught += x.caught;
    runs += x.runs;
    whole += x.caught == x.runs ? 1 : 0;
  }
  return text + m.false_text +
         fmt::format(
             "{} of {} mutants caught, in {} of {} runs\n"
             "{} false reports in {} runs of {} correct kernels\n",
             whole, m.mutants.size(), caught, runs, m.false_reports, m.correct_runs,
             m.correct_kernels);
}

}  // namespace tw::hazards
