// SPDX-License-Identifier: Apache-2.0
// cluster_launch.hpp  Cluster launch control (emulated). PTX ISA, "clusterlaunchcontrol".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/emu/mbarrier.hpp"
#include "tilewright/arch/launch_response.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

TW_DEVICE void launch_cancel(launch_response& answer, mbarrier& landed,
                             emu::site where = emu::site::here()) {
  emu::launch_cancel(&answer, &landed, false, where);
}
TW_DEVICE void launch_cancel_multicast(launch_response& answer, mbarrier& landed,
                                       emu::site where = emu::site::here()) {
  emu::launch_cancel(&answer, &landed, true, where);
}
TW_DEVICE bool launch_cancelled(launch_response const& answer,
                                emu::site where = emu::site::here()) {
  return emu::launch_cancelled(&answer, where);
}
TW_DEVICE extents3 launch_cancelled_cta(launch_response const& answer,
                                        emu::site where = emu::site::here()) {
  return emu::launch_cancelled_cta(&answer, where);
}

}  // namespace tw
