// SPDX-License-Identifier: Apache-2.0
// result_scale.hpp  Where a kernel stores the scale of 128 columns of a row of D.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/epilogue/add_c.hpp"
#include "tilewright/kernel/epilogue/params.hpp"
#include "tilewright/problem/quantize.hpp"

namespace tw {

/// Stores the scale of D(row, at.col) and the columns that share it; at.col is the first of them.
TW_DEVICE void store_result_scale(result_scales const& s, int row, fragment_place at, float scale) {
  int const block = at.col / scale_block_cols, group = block >> s.packed_log2;
  std::int64_t const to = at.batch * s.batch_stride + row * s.stride_row + group * s.stride_block +
                          (block - (group << s.packed_log2));
  if (s.ue8m0 != 0)
    static_cast<words::b8*>(s.data)[to] = to_ue8m0_up(scale).bits;
  else
    static_cast<words::f32*>(s.data)[to] = scale;
}

}  // namespace tw
