// SPDX-License-Identifier: Apache-2.0
// reference.hpp  The GEMM as three loops in float64: slow, simple, the oracle of the tests.
#pragma once

#include <cstdint>

#include "tilewright/problem/error_bound.hpp"
#include "tilewright/problem/fused_bound.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// Element (row, col) of matrix `batch` of an operand in host memory.
double load_element(matrix_desc const& m, void const* base, std::int64_t row, std::int64_t col,
                    std::int64_t batch = 0);

/// A number of this type as the tensor core multiplies it: f32 is rounded to tf32, and tf32 loses
/// the 13 bits below its mantissa.
double multiplied_value(elem type, double x);

/// An element of A or B as the tensor core multiplies it.
double load_operand(matrix_desc const& m, void const* base, std::int64_t row, std::int64_t col,
                    std::int64_t batch = 0);

/// The scale of row `outer` of A, or column of B, for element k.
double load_scale(scale_desc const& s, void const* base, std::int64_t outer, std::int64_t k,
                  std::int64_t batch = 0);

/// The factor of the sum over the K block of element k, where scales are in the main loop:
/// float32(sa sb); of block-scaled operands fa fb, exact.
double scale_of_block(gemm_problem const& p, gemm_operands const& o, std::int64_t row,
                      std::int64_t col, std::int64_t k, std::int64_t batch = 0);

/// The factor of the whole sum: float32(sa sb) of NVFP4's second levels, else 1.
double second_level_of_sums(gemm_problem const& p, gemm_operands const& o);

/// S, T and c of element (row, col) of matrix `batch`; error_bound.hpp says what D may then be.
/// Operands are host pointers.
exact_sum reference_element(gemm_problem const& p, gemm_operands const& o, std::int64_t row,
                            std::int64_t col, std::int64_t batch = 0);

/// Terms of the epilogue for element (row, col) of D: scales, biases and c; s and t are zero.
exact_fused reference_vectors(gemm_problem const& p, gemm_operands const& o, std::int64_t row,
                              std::int64_t col, std::int64_t batch = 0);

/// Columns of A B that element (.., col) of D comes from: itself, or its gate and up.
struct product_columns {
  std::int64_t x, up;  // up = -1 without a gate
};
product_columns columns_of(gemm_problem const& p, std::int64_t col);

/// All that element (row, col) of D of matrix `batch` depends on; fused_bound.hpp says what D may
/// then be.
exact_fused reference_fused(gemm_problem const& p, gemm_operands const& o, std::int64_t row,
                            std::int64_t col, std::int64_t batch = 0);

}  // namespace tw
