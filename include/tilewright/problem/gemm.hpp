// SPDX-License-Identifier: Apache-2.0
// gemm.hpp  A GEMM problem: D = alpha * A * B + beta * C, or more (epilogue.hpp), as plain numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/base/elem.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/epilogue.hpp"
#include "tilewright/problem/groups.hpp"
#include "tilewright/problem/precision.hpp"
#include "tilewright/problem/scale.hpp"
#include "tilewright/problem/weight_format.hpp"

namespace tw {

/// Which index of a matrix is contiguous in memory.
/// row_major: the column index (C order); col_major: the row index (Fortran order).
enum class order : std::uint8_t { row_major, col_major };

/// A matrix in memory: element type, order, and the distance between neighbouring rows
/// (row_major) or columns (col_major), in elements. batch_stride_elems: from a matrix of a batch to
/// the next, in elements; 0: the same matrix for all; by_pointers: each has a separate address.
struct matrix_desc {
  /// The operands give an array of addresses, in the memory of the device that runs the GEMM.
  /// There each address is a multiple of 16 bytes.
  static constexpr std::int64_t by_pointers = -1;

  elem type = elem::bf16;
  order ord = order::row_major;
  std::int64_t pitch_elems = 0;
  std::int64_t batch_stride_elems = 0;

  bool has_pointers() const { return batch_stride_elems == by_pointers; }
  std::int64_t pitch_bytes() const { return pitch_elems * size_bits(type) / 8; }
  std::int64_t batch_stride_bytes() const { return batch_stride_elems * size_bits(type) / 8; }
  bool operator==(matrix_desc const&) const = default;
};

/// D(m,n) = alpha * A(m,k) * B(k,n) + beta * C(m,n). Operands of A and B, and how sums are kept:
///   bf16, f16       float32; f16 sums of f16 operands where precision.f16_sums allows them
///   e4m3, e5m2      A and B of either type: float32, promoted as precision.promote_k says
///   s8, u8          A and B of either type: exact, in 32 bits; then float32 for the epilogue
///   f32             as tf32, each element rounded to nearest even on its way to shared memory
///   tf32            float32; of numbers that are not tf32 the tensor core ignores the low 13 bits
///   MXFP8, MXFP4,   e4m3 and e5m2, or e2m1, with scales for 32 or 16 elements of K: float32
///   NVFP4           (problem/block_scaled.hpp). Two e2m1 lie in a byte, the first in its low
///                   half; leading dimensions and strides count elements and are even
/// D of 8-bit floats saturates: what is beyond the largest finite number becomes that. D of s32 is
/// the sum itself. C is present exactly when beta takes part. With alpha == 0,
/// A B does not take part, as in BLAS: infinities and NaNs in A and B do not reach D.
/// "TN" of the field: A row_major, B col_major (both K-major).
/// With batch > 1, that many products of the same shape: matrix i of each operand lies i batch
/// strides after the first, or at address i of an array. The matrices of D must not overlap; they
/// may be interleaved (heads side by side: a batch stride below the pitch).
struct gemm_problem {
  std::int64_t m = 0, n = 0, k = 0;
  matrix_desc a;                 // (m, k)
  matrix_desc b;                 // (k, n)
  matrix_desc d;                 // (m, n)
  std::optional<matrix_desc> c;  // (m, n)
  float alpha = 1.0F;
  float beta = 0.0F;
  std::int64_t batch = 1;
  gemm_epilogue epilogue = {};  // with a gate D and C are (m, n/2)
  gemm_precision precision = {};
  /// Scales of A over (m, k) and of B over (n, k): A(m,k) is multiplied by its scale, and B(k,n).
  /// problem/scale_place.hpp says where.
  std::optional<scale_desc> scale_a = std::nullopt, scale_b = std::nullopt;
  /// (m, n): x of the epilogue, before its activation, with the type and order of D.
  std::optional<matrix_desc> aux = std::nullopt;
  /// The bits of a row of D depend on that row of A (C, the epilogue's operands), on B, K, types,
  /// orders and the epilogue alone: not on M, the row's place, its neighbours, how N is split, the
  /// tiles, or the number of SMs. Only kernels that add in one order serve it: docs/invariance.md.
  bool reproducible = false;
  /// Scales of D, which is e4m3, e5m2 or s8: one that is given, or one for each row or each 128
  /// columns of a row, computed from the largest magnitude (amax) and written.
  std::optional<output_scales> scale_d = std::nullopt;
  /// Groups that divide M, N or K, whose sizes are in device memory (problem/groups.hpp). `batch`
  /// is 1, of slots the number of groups; the operand that has a matrix for each group has a batch
  /// stride. Rows of D that belong to no group are not written.
  std::optional<group_desc> groups = std::nullopt;
  /// Prepared 4-bit weights as A or B (docs/weights4.md), with their header, at a multiple
  /// of 16 bytes. `a` or `b` says in which type they are multiplied, bf16 or f16, and is K-major
  /// without gaps. alpha contains the factor of the weights (weights_desc::factor).
  weight_format weights_a = {}, weights_b = {};

  /// Matrices of A, B and D (and C): one for each index of the batch, or for each group.
  constexpr std::int64_t a_matrices() const { return matrices_of(group_axis::n); }
  constexpr std::int64_t b_matrices() const { return matrices_of(group_axis::m); }
  constexpr std::int64_t d_matrices() const { return matrices_of(group_axis::k); }

  /// Rows of A and D and columns of B and D in memory: others than m and n if groups gather or
  /// scatter them. With a gate D has half of these columns.
  constexpr std::int64_t a_rows() const { return gathers(group_axis::m) ? groups->gather_from : m; }
  constexpr std::int64_t b_cols() const { return gathers(group_axis::n) ? groups->gather_from : n; }
  constexpr std::int64_t d_rows() const { return scatters(group_axis::m) ? groups->scatter_to : m; }
  constexpr std::int64_t d_cols() const { return scatters(group_axis::n) ? groups->scatter_to : n; }

  /// Vectors along rows, or columns: has each group another? Rows of groups of rows share one.
  constexpr bool rows_of_each_group() const {
    return groups && (groups->axis != group_axis::m || groups->slots());
  }
  constexpr bool cols_of_each_group() const {
    return groups && (groups->axis != group_axis::n || groups->slots());
  }

  /// Is one of A, B, C and D a batch by pointers?
  bool has_pointers() const {
    return a.has_pointers() || b.has_pointers() || d.has_pointers() || (c && c->has_pointers());
  }
  bool operator==(gemm_problem const&) const = default;

 private:
  constexpr bool gathers(group_axis x) const {
    return groups && groups->axis == x && groups->gather_from > 0;
  }
  constexpr bool scatters(group_axis x) const {
    return groups && groups->axis == x && groups->scatter_to > 0;
  }
  constexpr std::int64_t matrices_of(group_axis each) const {
    return groups && groups->axis == each ? groups->count : batch;
  }
};

/// Base addresses of the matrices, on the device that runs the GEMM. The workspace is where
/// split-K parts of a tile are reduced; without one split-K is not used. Operands that TMA cannot
/// address, or are transposed, are copied to it. 256-byte aligned; its first gemm_workspace_zeros
/// bytes are zero before its first use. A launch that succeeds leaves them so; after one that
/// failed zero them again. Launches that may overlap need one each. gemm_workspace_bytes() of
/// dispatch/gemm.hpp says how much serves every plan: 64 MiB and the copies. Of an operand with
/// has_pointers() the array holds `batch` addresses, and a, b, c or d is not read; those of A, B
/// and D are multiples of 16 bytes unless the pitch is not.
struct gemm_operands {
  void const* a = nullptr;
  void const* b = nullptr;
  void const* c = nullptr;
  void* d = nullptr;
  void* workspace = nullptr;
  std::int64_t workspace_bytes = 0;
  void const* const* a_array = nullptr;
  void const* const* b_array = nullptr;
  void const* const* c_array = nullptr;
  void* const* d_array = nullptr;
  void const* bias = nullptr;        // M or N values of epilogue.bias.type
  void const* row_scale = nullptr;   // M values of f32
  void const* col_scale = nullptr;   // N values of f32
  void const* row_weight = nullptr;  // M values of f32; of groups of columns N
  void* aux = nullptr;
  void const* scale_a = nullptr;  // of problem.scale_a
  void const* scale_b = nullptr;
  void* scale_d = nullptr;  // of problem.scale_d: read where it is given, else written
  /// One float32 each, where problem.scale_a or scale_b has a second level (NVFP4).
  void const* second_level_a = nullptr;
  void const* second_level_b = nullptr;
  void const* groups = nullptr;  // of problem.groups: group_desc::numbers() integers
  /// 0 before the launch, or nullptr. The kernel writes 1 + g if the number of group g is not
  /// possible: it descends, is negative, or exceeds the total. It then takes the nearest one.
  std::uint32_t* group_status = nullptr;
  /// With group_desc::alpha: a value of f32 for each group, which multiplies problem.alpha.
  void const* group_alpha = nullptr;
  void const* gather = nullptr;   // of group_desc::gather_from: int32 for each index
  void const* scatter = nullptr;  // of group_desc::scatter_to
};
inline constexpr std::int64_t gemm_workspace_zeros = 256 * 1024;

/// Does the gate pair rows of A B, as in a transposed problem (swap-AB) with prepared weights?
constexpr bool gates_rows(gemm_problem const& p) {
  return p.weights_a && p.epilogue.gate != gating::none;
}
/// Rows and columns of D. With a gate one of them is half of the extent of A B.
constexpr std::int64_t result_rows(gemm_problem const& p) { return gates_rows(p) ? p.m / 2 : p.m; }
constexpr std::int64_t result_cols(gemm_problem const& p) {
  return gates_rows(p) ? p.n : result_cols(p.epilogue, p.n);
}

/// May the tensor cores keep the sums of this problem in f16? Operands of f16 alone have such sums.
constexpr bool may_sum_in_f16(gemm_problem const& p) {
  return p.precision.f16_sums && holds_half_sums(p.a.type);
}

}  // namespace tw
