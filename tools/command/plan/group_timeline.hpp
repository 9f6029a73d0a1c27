// SPDX-License-Identifier: Apache-2.0
// group_timeline.hpp  A call over several GPUs in time, on each path, as the model of dist/plan.hpp
//                     has it.
#pragma once

#include <string>
#include <vector>

#include "tilewright/dist/plan.hpp"
#include "tools/trace/call_picture.hpp"

namespace tw {

/// The blocks of all ranks in a call on a path, in microseconds. All ranks begin at once; rows are
/// divided evenly. A copy to a peer takes an equal part of the exchange, a GEMM the time of its
/// rows in the plan. The launches of a call, whose time the plan has as a whole, are before the
/// first block.
std::vector<call_block> call_blocks(dist::group_plan const& g, dist::path via);

/// The picture of all paths, SVG: a row for each rank, and one for the copies of rank 0.
std::string call_timeline_svg(dist::group_plan const& g);

}  // namespace tw
