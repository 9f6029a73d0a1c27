// SPDX-License-Identifier: Apache-2.0
// other_rungs.cpp  The steps inside of rungs 5, 6 and 8.
#include "ladder/05_two_consumers.hpp"
#include "ladder/06_persistent.hpp"
#include "ladder/08_clusters.hpp"
#include "tools/check/rungs/rungs.hpp"

namespace ladder {

std::vector<rung> other_steps() {
  return {row<rung_05<config{.set_registers = false}>>(5, "05_two_consumers", "without setmaxnreg"),
          row<rung_06<config{.grouped = false}>>(6, "06_persistent", "consecutive tiles"),
          row<rung_08<config{.cluster_m = 1, .cluster_n = 2}>>(8, "08_clusters", "1 x 2", true),
          row<rung_08<config{.cluster_m = 2, .cluster_n = 2}>>(8, "08_clusters", "2 x 2", true)};
}

}  // namespace ladder
