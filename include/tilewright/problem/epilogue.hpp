// SPDX-License-Identifier: Apache-2.0
// epilogue.hpp  Operations on a result before it is written: scales, bias, activation, gate.
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"
#include "tilewright/problem/activation.hpp"

namespace tw {

/// Which columns of A B are gates and which are multiplied by them ("up").
///   interleaved  gate, up, gate, up, ...
///   split        the first N/2 columns are gates, the others up
enum class gating : std::uint8_t { none, interleaved, split };

/// A vector with a value per row, or one per column.
enum class along : std::uint8_t { none, rows, cols };

/// The epilogue of a GEMM, in float32 and in this order; absent steps are left out. For row i
/// and column j of the M x N result, acc = sum over k of A(i,k) B(k,j):
///
///   x = alpha acc row_scale[i] col_scale[j] + bias[i or j]
///   x = x + beta C(i,j)                        unless c_last
///   aux(i,j) = x, rounded to D's type          a second result, of N columns: gemm_problem::aux
///   y = act(x)                                 without a gate
///   y = act(x_gate) x_up                       with one: y(i,j) of N/2 columns. An activation may
///                                              clamp x_up and add to it (activation.hpp)
///   y = y + beta C(i,j)                        if c_last
///   D(i,j) = y, rounded to D's type
///
/// alpha acc is rounded, then each multiplication and sum; beta C is added by one fma, and a bias
/// may be added to alpha acc by one (if nothing else than an activation or a gate comes). N
/// counts gate and up columns: so do the vectors along columns and aux, in the order of B's
/// columns. With a gate D and C have N/2 columns. SwiGLU is silu with a gate, that of gpt-oss
/// clamped_quick_gelu, GeGLU a gelu, ReGLU relu, and a bilinear unit none. A batch has the same
/// vectors for all its matrices. With alpha == 0, acc does not take part, as in BLAS: x is the bias
/// and beta C, even where acc is NaN.
///
/// Infinities are treated as PyTorch treats them: act(+inf) = +inf for every activation that does
/// not clamp; relu(-inf) = 0; gelu and silu of -inf are NaN (-inf times a sigmoid of 0); act(NaN)
/// is NaN. For a finite x of large magnitude gelu and silu are x or -0.
struct gemm_epilogue {
  along bias = along::none;
  elem bias_type = elem::f32;  // f32, bf16 or f16
  bool row_scale = false;      // M values of f32
  bool col_scale = false;      // N values of f32
  activation act = activation::none;
  gating gate = gating::none;
  bool c_last = false;
  bool one_row_scale = false;  // the row scale is a single value for all rows
  bool one_col_scale = false;

  bool operator==(gemm_epilogue const&) const = default;
};

/// True if the epilogue has more than alpha and beta.
constexpr bool is_fused(gemm_epilogue const& e) {
  return e.bias != along::none || e.row_scale || e.col_scale || e.act != activation::none ||
         e.gate != gating::none;
}

/// Columns of D and C for a B of n columns.
constexpr std::int64_t result_cols(gemm_epilogue const& e, std::int64_t n) {
  return e.gate == gating::none ? n : n / 2;
}

}  // namespace tw
