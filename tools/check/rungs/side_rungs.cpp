// SPDX-License-Identifier: Apache-2.0
// side_rungs.cpp  The experiments beside the rungs: ladder/side, and D without a swizzle.
#include "ladder/10_async_stores.hpp"
#include "ladder/side/dsmem.hpp"
#include "ladder/side/multistage.hpp"
#include "ladder/side/pingpong.hpp"
#include "ladder/side/prefetch_first.hpp"
#include "tools/check/rungs/rungs.hpp"

namespace ladder {

std::vector<rung> side_rungs() {
  return {
      row<side_multistage<config{.stages = 1}>>(3, "side_multistage", "1 stage, wait_group<0>"),
      row<side_multistage<config{.stages = 2}>>(3, "side_multistage", "2 stages, wait_group<0>"),
      row<side_multistage<config{.stages = 3}>>(3, "side_multistage", "3 stages, wait_group<0>"),
      row<side_multistage<config{.stages = 2, .in_flight = 1}>>(3, "side_multistage",
                                                                "2 stages, wait_group<1>"),
      row<side_multistage<config{.stages = 3, .in_flight = 1}>>(3, "side_multistage",
                                                                "3 stages, wait_group<1>"),
      row<side_prefetch_first<config{.breakable = true}>>(3, "side_prefetch_first",
                                                          "the load after the wait"),
      row<side_pingpong<config{}>>(7, "side_pingpong", "two consumers in turns"),
      row<side_dsmem<config{}>>(8, "side_dsmem", "distributed shared memory", true),
      row<rung_10<config{.swizzled_d = false}>>(10, "10_async_stores", "D without a swizzle", true),
  };
}

}  // namespace ladder
