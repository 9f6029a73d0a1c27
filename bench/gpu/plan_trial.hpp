// SPDX-License-Identifier: Apache-2.0
// plan_trial.hpp  A quick look at a plan: the least of three bursts.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "bench/gpu/graph_contender.hpp"
#include "bench/gpu/operand_sets.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::bench {

inline void pause(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// The plan as a program over these operands. It refers to the operands, and owns the plan.
inline std::unique_ptr<graph_contender> program_of(stopwatch& watch, operand_sets const& sets,
                                                   gemm_plan const& plan, double batch_s) {
  return std::make_unique<graph_contender>(
      watch, sets.count(),
      [&sets, plan](int set, cudaStream_t stream) { gemm(plan, sets.at(set), stream); }, batch_s);
}

/// Microseconds of a launch. `warm_up`: the card was idle before. Bursts of 3 ms; of 8 ms where
/// power limits the clock, which it does after some milliseconds (docs/decisions/0033).
inline double trial_us(stopwatch& watch, operand_sets const& sets, gemm_plan const& plan,
                       bool warm_up) {
  bool const is_long = plan.predicted_us > 100;
  double const batch_s = is_long ? 0.008 : 0.003, pause_s = is_long ? 0.006 : 0.002;
  auto const program = program_of(watch, sets, plan, batch_s);
  for (int i = 0; warm_up && i < 5; ++i) program->burst();
  double least = not_measured;
  for (int round = 0; round < 3; ++round) {
    pause(pause_s);
    least = std::fmin(least, program->burst().us);  // fmin takes the number where one is NaN
  }
  return least;
}

}  // namespace tw::bench
