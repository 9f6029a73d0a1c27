// SPDX-License-Identifier: Apache-2.0
// middle_rungs.cpp  Rungs 4 to 7: warp specialisation, two consumers, persistent CTAs, mbarriers.
#include "ladder/04_warp_specialised.hpp"
#include "ladder/05_two_consumers.hpp"
#include "ladder/06_persistent.hpp"
#include "ladder/07_mbarriers.hpp"
#include "tools/check/rungs/rungs.hpp"

namespace ladder {

std::vector<rung> middle_rungs() {
  constexpr config c{.breakable = true};
  return {row<rung_04<c>>(4, "04_warp_specialised", "producer and consumer"),
          row<rung_05<c>>(5, "05_two_consumers", "128 x 256, setmaxnreg"),
          row<rung_06<c>>(6, "06_persistent", "persistent CTAs, grouped tiles"),
          row<rung_07<c>>(7, "07_mbarriers", "mbarriers with parities")};
}

}  // namespace ladder
