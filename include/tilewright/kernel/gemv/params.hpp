// SPDX-License-Identifier: Apache-2.0
// params.hpp  Parameters of a GEMV launch. The same bytes for both backends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/base/hd.hpp"
#include "tilewright/kernel/epilogue/params.hpp"

namespace tw {

/// An operand, K-major: row i of A, or column i of B, begins at data + i * pitch. In elements.
struct gemv_operand {
  void const* data;
  std::int64_t pitch, batch_stride;
};

/// D in global memory, any strides (elements).
struct gemv_result {
  void* data;
  std::int64_t row_stride, col_stride, batch_stride;
};

/// Scales of the rows and columns of the sums, or null; steps are 1, or 0: a single value.
struct gemv_scales {
  float const *row, *col;
  int row_step, col_step;
  int col_first;  // 1: the kernel computes the transposed GEMM, whose columns are its rows
};

struct gemv_params {
  gemv_operand a, b;
  gemv_result d;
  c_view c;
  gemv_scales scales;
  float alpha, beta;
  int m, n;    // size of D; n is at most gemv_config::cols
  int pieces;  // of K, gemv_config::piece() elements each
  int groups;  // of rows, gemv_config::cta_rows() each; the last may be cut
  int items;   // groups of all products of the batch
};

/// The operands of a warp: its first row of A and the matrix's B, and how many rows and columns
/// there are.
struct gemv_place {
  std::byte const *a, *b;
  std::int64_t a_pitch_bytes, b_pitch_bytes;
  int rows, cols;  // at least 1
  int pieces;
  int warp_k;  // of the warps that share K

  /// Row i of A, column i of B; beyond the last the last, whose results are not stored.
  TW_HD std::byte const* row(int i) const { return a + (i < rows ? i : rows - 1) * a_pitch_bytes; }
  TW_HD std::byte const* col(int i) const { return b + (i < cols ? i : cols - 1) * b_pitch_bytes; }
};

}  // namespace tw
