// SPDX-License-Identifier: Apache-2.0
// finding.hpp  Findings of the runs of one kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/arch/emu/statistics.hpp"

namespace tw::hazards {

/// How to repeat a run.
struct run_key {
  std::vector<std::int64_t> shape;
  int family = 0;  // of schedules: tools/check/mutants, schedule_name
  std::uint64_t seed = 0;

  bool operator==(run_key const&) const = default;
};

/// A diagnosis, or a wrong result, and the first run that showed it.
struct finding {
  std::string code, kind, text;  // of the emulator; code empty: wrong elements
  std::int64_t count = 0;        // how often, over all runs
  int runs = 0;                  // runs that showed it
  run_key first, last;
  int first_in = 0;  // runs of which it is the first report
};

struct kernel_result {
  std::string name;
  int runs = 0, bad_runs = 0;
  int runs_of_two_launches = 0;                   // whose second launch quantises D
  std::int64_t wrong_elements = 0, elements = 0;  // compared
  bool on_gpu = false;                            // nothing but the result was seen
  int left_out = 0;                               // runs, after one that reached its time limit
  std::vector<finding> findings;                  // in the order in which they came
  emu::statistics counts;

  bool clean() const { return findings.empty(); }
  /// Merges with a finding of the same code whose first line is the same. came_first: it is the
  /// first report of its run.
  void add(finding f, bool came_first = true);
};

}  // namespace tw::hazards
