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

/// A vector of an epilogue: a value for each row or for each column of A B, or one for all.
struct vector_desc {
  along over = along::none;  // none: the epilogue does not have the vector
  elem type = elem::f32;
  bool one = false;  // a single value

  constexpr vector_desc() = default;
  constexpr vector_desc(along over, elem type = elem::f32, bool one = false)
      : over(over),
        type(type),
        one(one) {}
  constexpr explicit operator bool() const { return over != along::none; }
  constexpr bool operator==(vector_desc const&) const = default;
  constexpr bool operator==(along direction) const { return over == direction; }
};

/// The epilogue of a GEMM, in float32 and in this order; absent steps are left out. For row i
/// and column j of the M x N result, acc = sum over k of A(i,k) B(k,j):
///
///   x = alpha acc row_scale[i] col_scale[j] + bias[i or j]
///   x = x + beta C(i,j)                        unless c_last
///   aux(i,j) = x, rounded to D's type          a second result, of N columns: gemm_problem::aux
///   y = act(x)                                 without a gate
///   y = act(x_gate) x_up                       with one: y(i,j) of N/2 columns. An activation may
///                                              clamp x_up and add to it (activation.hpp)
///   y = y row_weight[i]                        GEMMs of groups
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
  vector_desc bias = {};       // of f32, bf16 or f16
  vector_desc row_scale = {};  // over rows, of f32; also with scales of A that have blocks along K
  vector_desc col_scale = {};  // over columns, of f32
  /// Of groups of rows (of columns: over columns), of f32: the router's weight of a token, which
  /// multiplies a bias too. row_scale is a weight that comes before bias and activation.
  vector_desc row_weight = {};
  activation act = activation::none;
  gating gate = gating::none;
  bool c_last = false;

  bool operator==(gemm_epilogue const&) const = default;
};

/// True if the epilogue has more than alpha and beta.
constexpr bool is_fused(gemm_epilogue const& e) {
  return e.bias || e.row_scale || e.col_scale || e.row_weight || e.act != activation::none ||
         e.gate != gating::none;
}

/// Columns of D and C for a B of n columns.
constexpr std::int64_t result_cols(gemm_epilogue const& e, std::int64_t n) {
  return e.gate == gating::none ? n : n / 2;
}

}  // namespace tw
