// SPDX-License-Identifier: Apache-2.0
// schedules.hpp  The ways to hand out a kernel's tiles, and what a launch may have of them.
#pragma once

#include <vector>

#include "family/sm90_gemm/cost.hpp"
#include "tilewright/family/plan.hpp"

namespace tw {

/// A part of a tile with fewer K blocks is not worth its reduction.
inline constexpr int least_part_blocks = 4;

/// Columns of its tiles that a kernel which narrows may have for `n` of B: for each number of tiles
/// as few as they can have. {0} for other kernels.
std::vector<int> tile_cols_of(gemm_config const& c, std::int64_t n);

/// The ways to hand out a configuration's tiles: each tile to one cluster; all tiles shared by all
/// clusters; the last wave shared.
std::vector<tile_split> tile_splits(gemm_problem const& q, gemm_config const& c, device const& dev);

/// How the plan hands out its tiles.
tile_split tile_split_of(gemm_plan const& plan);

/// Bytes of the counters with which `s` adds the parts of split-K tiles: one 32-bit counter for
/// each group of parts of each warpgroup. They must fit gemm_workspace_zeros.
std::int64_t counter_bytes(gemm_problem const& q, gemm_config const& c, tile_split const& s);

/// gemm_family::partials_bytes: two places for a part of each cluster (kernel/sm90/fixup.hpp).
std::int64_t partials_bytes(gemm_plan const& plan);
std::int64_t max_partials_bytes(int sm_count);

/// Throws `rejected` for a plan that was edited to a schedule that its kernel cannot run: TW0427
/// columns of tiles, TW0426 split-K of a kernel without support, TW0436 more counters than
/// the workspace has. (TW0424, the band: order_of().)
void check_schedule(gemm_plan const& plan, gemm_problem const& q);

}  // namespace tw
