// SPDX-License-Identifier: Apache-2.0
// plan_trial.hpp  A quick look at a plan: the least of three bursts.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "tilewright/dispatch/gemm.hpp"
#include "tools/measure/gpu/graph_contender.hpp"
#include "tools/measure/gpu/operand_sets.hpp"

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

/// Bursts of all trials of a GEMM, by its first plan: longer where power limits the clock, which
/// it does after some milliseconds (docs/decisions/0033).
struct trial_bursts {
  double work_s, pause_s;
};
inline trial_bursts trial_bursts_of(gemm_plan const& first) {
  return first.predicted_us > 100 ? trial_bursts{0.008, 0.006} : trial_bursts{0.003, 0.002};
}

/// Microseconds of a launch. `warm_up`: the GPU was idle before.
inline double trial_us(stopwatch& watch, operand_sets const& sets, gemm_plan const& plan,
                       trial_bursts bursts, bool warm_up) {
  auto const program = program_of(watch, sets, plan, bursts.work_s);
  for (int i = 0; warm_up && i < 5; ++i) program->burst();
  double least = not_measured;
  for (int round = 0; round < 3; ++round) {
    pause(bursts.pause_s);
    least = std::fmin(least, program->burst().us);  // fmin takes the number where one is NaN
  }
  return least;
}

}  // namespace tw::bench
