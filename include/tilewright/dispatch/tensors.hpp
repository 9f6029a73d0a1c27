// SPDX-License-Identifier: Apache-2.0
// tensors.hpp  Tensors as callers have them (address, shape, strides, type, device), read as a
//              GEMM: the one place where orders, leading dimensions, batches and scales are read.
//
//   argument            shape                  becomes
//   a                   (m, k)                 A; with a batch in front (batch, m, k)
//   b                   (k, n)                 B; weights of (n, k) are passed as their transpose,
//                                              a view with the strides exchanged
//   d, c                (m, n)                 D and C; of n / 2 columns with a gate
//   aux                 (m, n)                 x of the epilogue before its activation
//   bias                (n), (1, n) or (m, 1)  along columns or along rows
//   scale_a, scale_b    any that the libraries have  problem.scale_a, scale_b (recognise_scale)
//   second_a, second_b  one float32            the second level of NVFP4
//   scale_d             one float32, or what scale_d_as says   problem.scale_d
//   groups              (G) int32 or int64     problem.groups. The dimensions of a and b say which
//                                              extent they divide: 2, 3: M; 3, 2: N; 2, 2: K;
//                                              3, 3: slots
//   row_weight          (d's rows) float32     epilogue.row_weight; axis n: (d's columns)
//   group_alpha         (G) float32            groups.alpha
//   gather, scatter     (m) int32; axis n (n)  groups.gather_from: the rows of a, and
//                                              groups.scatter_to: the rows of d,
//                                              which are those of c
//   weights_b           a header in host memory: b is uint8 (bytes), prepared weights
//
// One of the two inner strides is 1, and the other is the leading dimension; neither is negative or
// 0. An operand without a batch, or of a batch of 1, is the same for all matrices. Two e2m1 lie in
// a byte, along K of A and B and along the columns of D: their type is e2m1 with 2 lanes, or uint8
// if the format says so; the extent along K counts bytes then. With 1 lane of 4 bits it counts
// elements.
//
// Refusals name the arguments: TW0481 dimensions, TW0482 strides, TW0483 types, TW0484 arguments
// that are missing or exclude each other, TW0485 devices, TW0486 words, TW0616 shapes, TW0450 and
// TW0451 scales. What accept() refuses is refused by the planner.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {

/// A type by the numbers of DLPack (DLDataType).
struct tensor_type {
  std::uint8_t code = 2, bits = 32;
  std::uint16_t lanes = 1;

  bool operator==(tensor_type const&) const = default;
};

/// The device of a tensor, by the numbers of DLPack (DLDevice).
struct tensor_place {
  int kind = 1;  // 1: host memory, 2: CUDA, 3: pinned host memory, 13: managed memory
  int index = 0;

  bool is_host() const { return kind == 1 || kind == 3; }
  bool operator==(tensor_place const&) const = default;
};

struct tensor_argument {
  void const* data = nullptr;  // of the first element; nullptr: not allocated yet (for plans)
  int rank = 0;
  std::int64_t const* shape = nullptr;
  std::int64_t const* strides = nullptr;  // in elements; nullptr: C order
  tensor_type type = {};
  tensor_place place = {};
};

/// The arguments of a GEMM. A pointer that is nullptr and an empty word: not given.
struct gemm_arguments {
  tensor_argument const *a = nullptr, *b = nullptr, *c = nullptr, *d = nullptr, *aux = nullptr;
  tensor_argument const *bias = nullptr, *scale_a = nullptr, *scale_b = nullptr;
  tensor_argument const *scale_d = nullptr, *second_a = nullptr, *second_b = nullptr;
  tensor_argument const *groups = nullptr, *group_status = nullptr;
  tensor_argument const *row_weight = nullptr, *group_alpha = nullptr;
  tensor_argument const *gather = nullptr, *scatter = nullptr;
  std::int64_t gather_choices = 1;  // row i has row gather[i] / gather_choices of A
  /// The header of prepared 4-bit weights, in host memory: b has their bytes.
  void const* weights_b = nullptr;
  /// The convention of scales: "1x128", "torch", "torch:1x128" (parse_scale_choice); of a
  /// block-scaled format "linear" or "32x4x4". Without: from type, shape and strides.
  std::string_view scale_a_as = {}, scale_b_as = {};
  /// Without: scale_d is one scale that is given. "row", "1x128", with a library before a colon:
  /// computed and written. "mxfp8", "mxfp4", "nvfp4", also with ":linear" or ":32x4x4": likewise.
  std::string_view scale_d_as = {};
  std::string_view format = {};      // "mxfp8", "mxfp4" or "nvfp4" of A and B
  std::string_view activation = {};  // "relu", "gelu", "gelu-erf", "silu", "clamped-quick-gelu"
  std::string_view gate = {};        // "split" or "interleaved"
  std::string_view groups_as = {};   // "ends", "starts", "sizes", "rows" or "counts"
  std::string_view group_axis = {};  // "m", "n" or "k"; without by dimensions, of slots "m"
  std::int64_t expected_group_size = 0;
  float alpha = 1.0F;
  std::optional<float> beta = std::nullopt;  // 1 where C is given
  gemm_precision precision = {};
  bool reproducible = false;
  bool c_last = false;  // C is added after the activation; with a gate it always is
  bool scale_d_power_of_two = false;
};

/// The members of gemm_arguments for an operand.
struct argument_row {
  role is;
  tensor_argument const* gemm_arguments::*tensor;
  std::string_view gemm_arguments::*convention = nullptr;  // of scales
};
inline constexpr argument_row argument_rows[] = {
    {role::a, &gemm_arguments::a},
    {role::b, &gemm_arguments::b},
    {role::c, &gemm_arguments::c},
    {role::d, &gemm_arguments::d},
    {role::aux, &gemm_arguments::aux},
    {role::bias, &gemm_arguments::bias},
    {role::scale_a, &gemm_arguments::scale_a, &gemm_arguments::scale_a_as},
    {role::scale_b, &gemm_arguments::scale_b, &gemm_arguments::scale_b_as},
    {role::scale_d, &gemm_arguments::scale_d, &gemm_arguments::scale_d_as},
    {role::second_a, &gemm_arguments::second_a},
    {role::second_b, &gemm_arguments::second_b},
    {role::groups, &gemm_arguments::groups},
    {role::row_weight, &gemm_arguments::row_weight},
    {role::group_alpha, &gemm_arguments::group_alpha},
    {role::gather, &gemm_arguments::gather},
    {role::scatter, &gemm_arguments::scatter},
};
constexpr argument_row const& argument_row_of(role r) {
  for (argument_row const& x : argument_rows)
    if (x.is == r) return x;
  return argument_rows[0];
}
/// The tensor of an operand, or nullptr; the word of its convention.
constexpr tensor_argument const* tensor_of_role(gemm_arguments const& g, role r) {
  return g.*argument_row_of(r).tensor;
}
constexpr std::string_view convention_of_role(gemm_arguments const& g, role r) {
  return g.*argument_row_of(r).convention;
}

struct tensor_gemm {
  gemm_problem problem;
  gemm_operands operands;  // without a workspace
  tensor_place place;      // of all tensors
};

/// The GEMM of the arguments. Needs a, b and d. Throws `rejected`.
tensor_gemm gemm_of_tensors(gemm_arguments const& g);

/// D as the arguments determine it without d: its extents, and the usual type.
struct tensor_result {
  gemm_problem problem;  // without D and its scales
  int rank = 2;
  std::int64_t shape[3] = {};  // in elements of `type`: of a packed D the columns are bytes
  tensor_type type = {};
  /// Scales that scale_d_as has written: their tensor without gaps, and its bytes. NVFP4's float32
  /// of matrix i lies at byte second_offset + 4 i, within the bytes.
  int scale_rank = 0;
  std::int64_t scale_shape[3] = {}, scale_strides[3] = {};
  tensor_type scale_type = {};
  std::int64_t scale_bytes = 0, second_offset = -1;
};
tensor_result result_of_tensors(gemm_arguments const& g);

/// The type of an element in tensors; e2m1 as pairs.
tensor_type type_in_tensors(elem e);

/// The element type of a tensor, which `argument` names. Throws `rejected` TW0483.
elem element_type(tensor_type t, char const* argument);

/// "float64", "complex64": as frameworks write it.
std::string type_name(tensor_type t);

/// A matrix of a tensor: two dimensions, or three with the batch in front.
struct tensor_matrix {
  matrix_desc desc;
  std::int64_t rows = 0, cols = 0, matrices = 1;
};
enum class packed_along : std::uint8_t { rows, cols };
/// bytes_are_pairs: elements of uint8 are two e2m1. Throws `rejected` TW0481 to TW0483, TW0402.
tensor_matrix matrix_of_tensor(tensor_argument const& t, char const* argument, packed_along pairs,
                               bool bytes_are_pairs = false);

/// Rows, columns and number of matrices of an operand, and its name in messages.
struct operand_extents {
  char const* name;
  std::int64_t rows, cols, matrices;
};
/// The numbers of matrices agree, or are 1: the batch. Throws `rejected` TW0616.
std::int64_t batch_of(std::initializer_list<operand_extents> operands);
/// Throws `rejected` TW0616 if the inner extents of A and B differ.
void check_inner_extents(operand_extents const& a, operand_extents const& b,
                         std::string const& hint = {});
/// Throws `rejected` TW0616 where x has not the rows and columns of the result.
void check_result_extents(operand_extents const& x, std::int64_t rows, std::int64_t cols);

}  // namespace tw
