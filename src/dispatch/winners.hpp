// SPDX-License-Identifier: Apache-2.0
// winners.hpp  Plans that were measured to be the fastest, for the measured problems.
#pragma once

#include <optional>
#include <span>

#include "tilewright/device/device.hpp"
#include "tilewright/family/plan.hpp"
#include "tilewright/kernel/config.hpp"
#include "tilewright/kernel/gemv_config.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// The kernel of a row, without its types and majors.
struct tile_shape {
  int tile_m, tile_n, cluster_m, cluster_n, stages;
  bool pingpong = false;
  bool d_m = false;
  bool general = false;  // not used by rows
  int fused = fusion::none;
  int cluster_k = 1;
};
struct gemv_shape {
  int rows = 0, cols = 0, unroll = 0, warps_m = 0, warps_k = 0, ctas_per_sm = 0;
};

/// A problem and the fastest plan for it. layout: A is T = (m, k) or N = (k, m) in memory, B
/// is N = (n, k) or T = (k, n), as in the names of BLAS; D row-major.
struct winner {
  std::int64_t m, n, k, batch;
  elem ab, d;
  char const* layout;
  tile_shape tile;
  int shared_tiles, sharers;
  double us;                           // as measured
  gemv_shape gemv{};                   // that kernel, if it has rows: `tile` is empty then
  std::optional<bool> starts_early{};  // which is faster; nothing: not measured, or no difference
};

/// Is it the plan of this row?
bool is_plan(winner const& w, gemm_plan const& p);

/// All of them.
std::span<winner const> winners();

/// The measurement of this problem on the device whose
/// tuning_table `dev` has, if it was: matrices without gaps,
/// those of a batch one after the other, and no C. With column-major D it is that of the swapped
/// problem; an f16 problem that was not measured has the bf16 one's (`ab` says which), as
/// its kernels move as many bytes in the same instructions.
std::optional<winner> find_winner(gemm_problem const& p, device const& dev);

}  // namespace tw
