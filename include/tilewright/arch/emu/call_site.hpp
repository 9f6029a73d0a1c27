// SPDX-License-Identifier: Apache-2.0
// call_site.hpp  The place of a caller. A function above the instructions, such as gemm<tiled_mma>,
//                takes it and calls instructions in its name: a report shows the kernel's line.
//     void gemm(..., call_site where = call_site::here()) {
//       in_name_of(where, [&](auto... place) { wgmma<...>(..., place...); });
#pragma once

#include "tilewright/arch/emu/site.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

using call_site = emu::site;  // on the GPU nothing

/// Calls call(where); on the GPU call().
template <class Call>
TW_DEVICE void in_name_of(call_site where, Call const& call) {
  call(where);
}

}  // namespace tw
