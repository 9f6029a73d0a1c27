// SPDX-License-Identifier: Apache-2.0
// gemv_candidates.hpp  The GEMV kernels that are compiled in, as data.
#pragma once

#include "tilewright/kernel/gemv_config.hpp"

namespace tw {

/// A GEMV kernel without its types.
struct gemv_shape {
  int rows = 0, cols = 0, unroll = 0, warps_m = 0, warps_k = 0, ctas_per_sm = 0;
};

/// At equal predicted times the earlier one is taken.
inline constexpr gemv_shape gemv_shape_list[] = {
    {4, 1, 2, 1, 8, 2},    // one column
    {4, 2, 4, 1, 4, 4},    // two
    {16, 8, 4, 1, 4, 6},   // up to eight: tensor cores
    {16, 8, 4, 1, 16, 1},  // and few rows with much K
    {16, 16, 4, 1, 8, 2},  // up to sixteen
};
inline constexpr int gemv_shapes = sizeof gemv_shape_list / sizeof gemv_shape_list[0];

TW_HD constexpr gemv_config config_of(gemv_shape const& s, elem ab, elem d) {
  return {ab, d, s.rows, s.cols, s.unroll, s.warps_m, s.warps_k, s.ctas_per_sm};
}

/// Results of the operands' type or f32; other pairs are not compiled.
TW_HD constexpr bool gemv_types(elem ab, elem d) {
  return (ab == elem::bf16 || ab == elem::f16) && (d == ab || d == elem::f32);
}

}  // namespace tw
