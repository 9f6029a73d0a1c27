// SPDX-License-Identifier: Apache-2.0
// mainloop_of.hpp  The main loop of a Blackwell GEMM: how the warp that multiplies and the warps of
//                  the epilogue hand accumulators to each other. Two files specialise it:
//
//   tile_sums.hpp   without block scales: an accumulator has the sums of a tile
//   block_sums.hpp  with block scales: an accumulator has the sums of a K block
#pragma once

#include "tilewright/kernel/sm100/config.hpp"
#include "tilewright/kernel/sm100/mainloop/multiply.hpp"
#include "tilewright/kernel/sm100/params.hpp"
#include "tilewright/kernel/sm100/record.hpp"
#include "tilewright/kernel/sm100/roles.hpp"
#include "tilewright/kernel/sm100/tiles.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

/// Has multiply() and epilogue(), which the warps of these roles call.
template <sm100_config C, class Roles, class Profile, bool BlockScales = C.block_scales>
struct sm100_mainloop;

}  // namespace tw
