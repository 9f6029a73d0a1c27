// SPDX-License-Identifier: Apache-2.0
// result_scale.hpp  Scales of D as kernels store them: of 128 columns of a row, or one that is
//                   given.
#pragma once

#include <bit>

#include "family/normal_form.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/epilogue/params.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

/// Is a block of scales along one side of D a single row or column?
inline bool is_single(std::int64_t block, std::int64_t extent) { return block == 1 || extent == 1; }
/// Is it what a kernel finds the largest element of, 128 rows or columns or all of fewer?
inline bool is_scale_block(std::int64_t block, std::int64_t extent) {
  return block == scale_block_cols || (block == 0 && extent <= scale_block_cols);
}

/// Is a problem's scale of D given, or are they those of 128 columns of a row?
inline bool has_scales_of_row_blocks(gemm_problem const& q) {
  if (is_block_scale(q.scale_d->desc) || is_block_scale(transposed(*q.scale_d).desc)) return false;
  if (q.scale_d->given) return true;
  std::int64_t const cols = result_cols(q.epilogue, q.n);
  scale_desc const s = canonical(q.scale_d->desc, q.m, cols);
  return is_single(s.block_outer, q.m) && is_scale_block(s.block_k, cols);
}

/// Where the scales of D lie: of rows, then of blocks of columns.
inline result_scales scales_of_rows(gemm_problem const& q, gemm_operands const& o) {
  if (!q.scale_d) return {};
  scale_desc const s = canonical(q.scale_d->desc, q.m, result_cols(q.epilogue, q.n));
  return {o.scale_d,
          s.stride_outer,
          s.stride_k,
          s.batch_stride,
          std::countr_zero(static_cast<unsigned>(s.packed_k)),
          is_exponent(s.type) ? 1 : 0,
          q.scale_d->power_of_two ? 1 : 0,
          q.scale_d->given ? 1 : 0};
}

}  // namespace tw
