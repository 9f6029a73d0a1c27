// SPDX-License-Identifier: Apache-2.0
// side_rungs.cpp  The experiments beside the rungs: ladder/side, D by columns, D without a swizzle.
#include "ladder/05_two_consumers.hpp"
#include "ladder/06_persistent.hpp"
#include "ladder/07_mbarriers.hpp"
#include "ladder/08_clusters.hpp"
#include "ladder/10_async_stores.hpp"
#include "ladder/side/dsmem.hpp"
#include "ladder/side/multistage.hpp"
#include "ladder/side/pingpong.hpp"
#include "ladder/side/stores.hpp"
#include "tools/check/rungs/rungs.hpp"

namespace ladder {

std::vector<rung> side_rungs() {
  constexpr config columns{.d_by_rows = false}, pairs{.streamed = false};
  constexpr config elements{.pairs = false, .streamed = false};
  constexpr config column_elements{.d_by_rows = false, .pairs = false, .streamed = false};
  return {
      row<side_multistage<config{.stages = 1}>>(3, "side_multistage", "1 stage, wait_group<0>"),
      row<side_multistage<config{.stages = 2}>>(3, "side_multistage", "2 stages, wait_group<0>"),
      row<side_multistage<config{.stages = 3}>>(3, "side_multistage", "3 stages, wait_group<0>"),
      row<side_multistage<config{.stages = 2, .in_flight = 1}>>(3, "side_multistage",
                                                                "2 stages, wait_group<1>"),
      row<side_multistage<config{.stages = 3, .in_flight = 1}>>(3, "side_multistage",
                                                                "3 stages, wait_group<1>"),
      breakable_side_rungs()[0],
      by_columns<rung_05<columns>>(5, "05_two_consumers", "D by columns"),
      by_columns<rung_06<columns>>(6, "06_persistent", "D by columns"),
      row<side_pingpong<config{}>>(7, "side_pingpong", "two consumers in turns"),
      by_columns<rung_07<columns>>(7, "07_mbarriers", "D by columns"),
      row<side_dsmem<config{}>>(8, "side_dsmem", "distributed shared memory", true),
      by_columns<rung_08<columns>>(8, "08_clusters", "D by columns", true),
      row<side_stores<elements>>(9, "side_stores", "elements", true),
      row<side_stores<pairs>>(9, "side_stores", "pairs, not streamed", true),
      by_columns<side_stores<column_elements>>(9, "side_stores", "elements, D by columns", true),
      row<rung_10<config{.swizzled_d = false}>>(10, "10_async_stores", "D without a swizzle", true),
  };
}

}  // namespace ladder
