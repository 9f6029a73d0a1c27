// SPDX-License-Identifier: Apache-2.0
// ladder.hpp  Times of the rungs of ladder on a GPU, of the library's plan and of the
//             baseline.
#pragma once

#include <string>
#include <vector>

#include "tools/measure/device_facts.hpp"
#include "tools/measure/options.hpp"
#include "tools/measure/result.hpp"

namespace tw::bench {

struct ladder_options {
  int rung = 0;       // 0: all
  bool side = false;  // the experiments beside the rungs instead
  int sms = 0;        // that persistent rungs run on; 0: all
  std::vector<int> sizes = {512, 1024, 2048, 4096, 8192};
  measure_options measure;
};

/// One program at one size. rung 12: the library's plan; 0: the baseline.
struct ladder_time {
  int rung = 0;
  std::string name, step;  // "05_two_consumers", "without setmaxnreg"
  std::string kernel;      // the library's, or the baseline's algorithm
  check_result check;
  std::vector<sample> bursts;
};

struct ladder_size {
  int size = 0;  // M = N = K
  std::vector<ladder_time> times;
};

struct ladder_report {
  device_facts facts;
  std::string no_baseline;  // why there is no baseline
  std::vector<ladder_size> sizes;
};

/// Every rung that computes a size, verified and then timed against the others in bursts, over
/// operands that L2 does not hold. Throws `rejected` (TW05xx without a GPU, TW0710, TW0714).
ladder_report measure_ladder(ladder_options const& o);

}  // namespace tw::bench
