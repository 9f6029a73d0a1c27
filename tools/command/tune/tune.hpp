// SPDX-License-Identifier: Apache-2.0
// tune.hpp  Measures the candidates of problems and keeps the results; independent of a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dispatch/tuning/tuning_store.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/measure/plan_meter.hpp"

namespace tw::bench {

/// A problem, and the sizes of its groups while it is measured: no part of its key.
struct tune_problem {
  gemm_problem problem;
  std::vector<std::int64_t> sizes = {};
};

struct tune_options {
  std::vector<tune_problem> problems;
  int top = 16;        // candidates of each GEMM, as the planner ranks them
  double minutes = 0;  // no trial begins later; 0: no limit
  bool again = false;  // also what is finished in the store
};

/// Of one problem, as it ends.
struct tune_result {
  gemm_problem problem;
  measured_plan fastest;
  double planned_us = 0;      // of the plan that the planner would have chosen; 0: not compared
  int tried = 0, trials = 0;  // candidates, and those of them that were measured now
  std::string failure;        // empty: none
};

struct tune_outcome {
  int finished = 0, skipped = 0, failed = 0;
  bool out_of_time = false;
};

/// Each trial is in the store when the next begins; a run that was ended goes on where it was.
/// `progress`: share of all that is done; `on_result`: after each problem that was worked on.
tune_outcome tune(plan_meter& meter, tuning_store& store, tune_options const& options,
                  std::function<void(double)> const& progress,
                  std::function<void(tune_result const&)> const& on_result);

}  // namespace tw::bench
