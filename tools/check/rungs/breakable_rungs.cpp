// SPDX-License-Identifier: Apache-2.0
// breakable_rungs.cpp  The experiments in which a fault can be planted: the playground has these.
#include "ladder/side/prefetch_first.hpp"
#include "tools/check/rungs/rungs.hpp"

namespace ladder {

std::vector<rung> breakable_side_rungs() {
  return {row<side_prefetch_first<config{.breakable = true}>>(3, "side_prefetch_first",
                                                              "the load after the wait")};
}

}  // namespace ladder
