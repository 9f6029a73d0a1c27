// SPDX-License-Identifier: Apache-2.0
// winners.hpp  Plans that were measured to be the fastest: the tuning tables of devices.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/device/device.hpp"
#include "tilewright/family/plan.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/operand.hpp"
#include "tilewright/problem/scale.hpp"

namespace tw {

/// A problem with dense matrices and a row-major D, and the fastest plan for it. layout: A is T =
/// (m, k) or N = (k, m) in memory, B is N = (n, k) or T = (k, n), as in the names of BLAS.
struct winner {
  std::int64_t m, n, k, batch;
  elem ab, d;
  std::string_view layout;                  // "TN"
  ab_table<std::optional<scaling>> scales;  // float32
  int promote_k;                            // of 8-bit floats
  std::string_view kernel;                  // gemm_plan::kernel
  std::string_view f16_kernel;              // the same kernel for f16 operands, or empty
  int split_k_tiles, split_k_clusters;
  double us;                         // as measured
  std::optional<bool> starts_early;  // which is faster; nothing: not measured, or no difference
  std::string measured_on;           // device::name
  bool of_this_device = true;        // false: of its fallback table
};

/// The scales of A or B as a row states them: in the problem or in its epilogue. One row or column
/// has one scale: tensor.
std::optional<scaling> scaling_in_tables(gemm_problem const& p, role x);

/// Can tuning tables have a row for `p`? Operands of one type, without scales or both with float32
/// scales (tensor, row, 1x128, 128x128); sums of 8-bit floats promoted every 128 or 64 of K or
/// never, in any order of additions; dense matrices, a row-major D, no C, no groups, no prepared
/// weights and no fused epilogue.
bool fits_tables(gemm_problem const& p);

/// Is it the plan of this row?
bool is_plan(winner const& w, gemm_plan const& p);

/// All rows of a device's table (device::id). Empty if it has none.
std::vector<winner> winners(std::string_view device_id);

/// The row for this problem in the tuning table of `dev`, else in its fallback table, which was
/// measured on another device: matrices without gaps, those of a batch one after another, and no C.
/// With column-major D it is the row of the transposed problem; an f16 problem that a table lacks
/// has the bf16 row (`ab` says which), as its kernels move as many bytes in the same instructions.
std::optional<winner> find_winner(gemm_problem const& p, device const& dev);

}  // namespace tw
