// SPDX-License-Identifier: Apache-2.0
// normal_form.hpp  Every problem as one with row-major D: (A B)^T = B^T A^T.
#pragma once

#include <utility>

#include "tilewright/arch/types.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// The transposed matrix in the same memory.
inline matrix_desc transposed(matrix_desc m) {
  m.ord = m.ord == order::row_major ? order::col_major : order::row_major;
  return m;
}

/// Rows are columns. What has a gate along columns cannot be transposed.
inline gemm_epilogue transposed(gemm_epilogue e) {
  std::swap(e.row_scale, e.col_scale);
  std::swap(e.one_row_scale, e.one_col_scale);
  if (e.bias != along::none) e.bias = e.bias == along::rows ? along::cols : along::rows;
  return e;
}

/// Scales of the transposed D: what was k of their layout is its outer index.
inline output_scales transposed(output_scales s) {
  std::swap(s.desc.block_outer, s.desc.block_k);
  std::swap(s.desc.stride_outer, s.desc.stride_k);
  return s;
}

/// Groups of rows are groups of columns.
inline group_desc transposed(group_desc g) {
  g.axis = transposed(g.axis);
  return g;
}

/// Is the index of D that groups divide contiguous in memory? No tensor map ends with a group then:
/// its strides are multiples of 16 bytes.
inline bool divide_lines(gemm_problem const& p) {
  if (!p.groups || p.groups->axis == group_axis::k) return false;
  return (p.groups->axis == group_axis::m) == (p.d.ord == order::col_major);
}

/// Swap-AB: D^T = alpha * B^T * A^T + beta * C^T.
inline gemm_problem transposed(gemm_problem p) {
  std::swap(p.m, p.n);
  std::swap(p.a, p.b);
  std::swap(p.scale_a, p.scale_b);
  p.a = transposed(p.a);
  p.b = transposed(p.b);
  p.d = transposed(p.d);
  if (p.c) p.c = transposed(*p.c);
  if (p.aux) p.aux = transposed(*p.aux);
  if (p.scale_d) p.scale_d = transposed(*p.scale_d);
  p.epilogue = transposed(p.epilogue);
  if (p.groups) p.groups = transposed(*p.groups);
  return p;
}

/// Which index of an operand is contiguous, as wgmma names it. A is (m, k), B is (k, n).
inline operand_major major_of_a(matrix_desc const& a) {
  return a.ord == order::row_major ? operand_major::k : operand_major::mn;
}
inline operand_major major_of_b(matrix_desc const& b) {
  return b.ord == order::col_major ? operand_major::k : operand_major::mn;
}

}  // namespace tw
