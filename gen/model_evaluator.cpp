// SPDX-License-Identifier: Apache-2.0
// model_evaluator.cpp  Predicts the times of measured plans for any calibration; gen/fit_model.py
//                      runs it.
//
//     model_evaluator DEVICE TRIALS CONSTANTS
//
// TRIALS: lines of problem, kernel, swapped, split tiles and the number of clusters that split
// them, with tabs between. CONSTANTS: how many doubles a calibration has. First it writes a byte
// for each line: 1 if the planner has this plan, 0 if not. Then it reads calibrations from its
// input, of each the doubles of tw::calibration that devices/*.json has, in their order, and writes
// a double for each plan that it has: the predicted time in microseconds.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/tuning/tuning_store.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace {

/// The sections of a calibration that devices/*.json has: those before `operand_orders`.
using numbers = std::array<double, offsetof(tw::calibration, operand_orders) / sizeof(double)>;

std::vector<std::string> cells_of(std::string const& line) {
  std::vector<std::string> cells;
  std::size_t from = 0;
  while (true) {
    std::size_t const to = line.find('\t', from);
    cells.push_back(line.substr(from, to - from));
    if (to == std::string::npos) return cells;
    from = to + 1;
  }
}

int integer(std::string const& text) {
  int x = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::runtime_error(fmt::format("'{}' is no integer", text));
  return x;
}

tw::gemm_operands operands() {
  auto* const p = reinterpret_cast<void*>(std::uintptr_t{0x1000});  // never followed
  return {p, p, nullptr, p, p, std::int64_t{1} << 40};
}

std::vector<tw::gemm_plan> plans_for(std::string const& key, tw::device const& dev) {
  auto const problem = tw::problem_of_key(key);
  if (!problem) throw std::runtime_error(fmt::format("'{}' is no problem", key));
  if (tw::accept(*problem)) return {};
  return tw::plan_candidates(*problem, operands(), dev, tw::kernel_set::all);
}

/// The plans of the lines, those that the planner has.
std::vector<tw::gemm_plan> read(std::istream& lines, tw::device const& dev, std::string& found) {
  std::map<std::string, std::vector<tw::gemm_plan>> candidates;
  std::vector<tw::gemm_plan> plans;
  for (std::string line; std::getline(lines, line);) {
    auto const cells = cells_of(line);
    if (cells.size() != 5) throw std::runtime_error(fmt::format("'{}': not 5 cells", line));
    if (!candidates.contains(cells[0])) candidates[cells[0]] = plans_for(cells[0], dev);
    tw::measured_plan const wanted{cells[1], integer(cells[2]) != 0, integer(cells[3]),
                                   integer(cells[4])};
    bool there = false;
    for (tw::gemm_plan const& p : candidates[cells[0]]) {
      if (!wanted.same_plan(
              {p.kernel, p.swapped, p.schedule.split_k_tiles, p.schedule.split_k_clusters}))
        continue;
      plans.push_back(p);
      there = true;
      break;
    }
    found.push_back(there ? '\1' : '\0');
  }
  return plans;
}

void evaluate(std::vector<tw::gemm_plan> const& plans, tw::device dev) {
  numbers given;
  std::vector<double> us(plans.size());
  while (std::fread(given.data(), sizeof(double), given.size(), stdin) == given.size()) {
    tw::calibration model = *dev.model;
    std::memcpy(&model, given.data(), sizeof given);
    dev.model = std::make_shared<tw::calibration const>(model);
    for (std::size_t i = 0; i < plans.size(); ++i) us[i] = tw::predicted_us(plans[i], dev);
    std::fwrite(us.data(), sizeof(double), us.size(), stdout);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    fmt::print(stderr, "usage: model_evaluator DEVICE TRIALS CONSTANTS\n");
    return 2;
  }
  try {
    // Another number would leave the two programs waiting for each other.
    if (words[3] != std::to_string(numbers{}.size()))
      throw std::runtime_error(
          fmt::format("got {} constants of a calibration, need {}", words[3], numbers{}.size()));
    tw::device const& dev = tw::known_device(words[1]);
    std::ifstream lines(words[2]);
    if (!lines) throw std::runtime_error(fmt::format("{} cannot be opened", words[2]));
    std::string found;
    auto const plans = read(lines, dev, found);
    std::fwrite(found.data(), 1, found.size(), stdout);
    std::fflush(stdout);
    evaluate(plans, dev);
  } catch (std::exception const& e) {
    fmt::print(stderr, "model_evaluator: {}\n", e.what());
    return 1;
  }
  return 0;
}
