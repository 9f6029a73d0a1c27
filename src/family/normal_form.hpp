// SPDX-License-Identifier: Apache-2.0
// normal_form.hpp  Every problem as one with row-major D: (A B)^T = B^T A^T.
#pragma once

#include <utility>

#include "tilewright/arch/types.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {

/// The transposed matrix in the same memory.
inline matrix_desc transposed(matrix_desc m) {
  m.ord = m.ord == order::row_major ? order::col_major : order::row_major;
  return m;
}

/// Rows are columns. A gate pairs rows then (gates_rows), which kernels of 4-bit weights do alone.
inline gemm_epilogue transposed(gemm_epilogue const& e) {
  gemm_epilogue t = e;
  for (operand_row const& r : operand_rows) {
    if (r.vector == nullptr) continue;
    vector_desc& to = t.*row_of(r.transposed).vector;
    to = e.*r.vector;
    if (to) to.over = to == along::rows ? along::cols : along::rows;
  }
  return t;
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
inline gemm_problem transposed(gemm_problem const& p) {
  gemm_problem t = p;
  std::swap(t.m, t.n);
  for (operand_row const& r : operand_rows) {
    operand_row const& to = row_of(r.transposed);
    if (r.matrix != nullptr) t.*to.matrix = transposed(p.*r.matrix);
    if (r.optional_matrix != nullptr && p.*r.optional_matrix)
      t.*to.optional_matrix = transposed(*(p.*r.optional_matrix));
    if (r.scales != nullptr) t.*to.scales = p.*r.scales;
  }
  if (p.scale_d) t.scale_d = transposed(*p.scale_d);
  std::swap(t.weights_a, t.weights_b);
  t.epilogue = transposed(p.epilogue);
  if (p.groups) t.groups = transposed(*p.groups);
  return t;
}

/// Which index of an operand is contiguous, as wgmma names it. A is (m, k), B is (k, n).
inline operand_major major_of_a(matrix_desc const& a) {
  return a.ord == order::row_major ? operand_major::k : operand_major::mn;
}
inline operand_major major_of_b(matrix_desc const& b) {
  return b.ord == order::col_major ? operand_major::k : operand_major::mn;
}

}  // namespace tw
