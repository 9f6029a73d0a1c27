// SPDX-License-Identifier: Apache-2.0
// operand.hpp  The operands of a GEMM: a row for each role, and the place of each in memory.
//
// Code for all operands is a loop over operand_rows or over operands_of(problem): the checks of
// addresses and overlaps, the key of remembered plans, the exchange of A and B, copies to and from
// a GPU. A new operand is a row here, and a member of gemm_problem and of gemm_operands.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "tilewright/problem/gemm.hpp"

namespace tw {

enum class role : std::uint8_t {
  a,
  b,
  c,
  d,
  aux,
  bias,
  row_scale,
  col_scale,
  scale_a,
  scale_b,
  second_a,
  second_b,
  scale_d,
  groups,
  row_weight,
  group_alpha,
  gather,
  scatter,
  none
};
inline constexpr int role_count = static_cast<int>(role::none);

/// The type that describes an operand in a gemm_problem.
enum class operand_kind : std::uint8_t {
  matrix,         // matrix_desc
  vector,         // a value for each row or each column of A B, or one for all: of the epilogue
  scales,         // scale_desc: of A or B
  second_level,   // one float32 that multiplies the scales of A or B, if they say so
  result_scales,  // output_scales: of D
  sizes,          // group_desc: of the groups
  group_values,   // group_desc: a value for each group, or for each index that groups divide
};

/// The index space of an operand.
enum class operand_axes : std::uint8_t {
  mk,    // A and its scales
  kn,    // B; its scales are over (n, k)
  d,     // D, C and their scales: (m, n), or (m, n/2) with a gate
  mn,    // all columns of A B
  line,  // vectors
};

/// Which launch may copy an operand to the workspace first.
enum class operand_copy : std::uint8_t {
  none,
  lines,    // to a leading dimension that TMA can address, or to K-major order
  factors,  // block scales to the order 32x4x4
  staged,   // D of the GEMM, which a second launch quantises
};

/// A T for each role.
template <class T>
struct role_table {
  std::array<T, role_count> list{};
  constexpr T& operator[](role r) { return list[static_cast<std::size_t>(r)]; }
  constexpr T const& operator[](role r) const { return list[static_cast<std::size_t>(r)]; }
};

/// Everything that code for all operands needs to know of one. Members that do not belong to its
/// kind are nullptr.
struct operand_row {
  role is;
  char const* word;   // its name as an argument in C and Python; an option has "-" for "_"
  char const* text;   // in messages: "the scales of A"
  char const* field;  // the member of gemm_operands
  role transposed;    // its role in D^T = B^T A^T, which the kernel computes with A and B exchanged
  operand_kind kind;
  operand_axes over;
  role of = role::none;  // the matrix that scales belong to
  operand_copy copy = operand_copy::none;
  /// Its address: `result` if the GEMM may write it. `array`: the addresses of a batch by pointers
  /// (d_array has another type).
  void const* gemm_operands::*input = nullptr;
  void* gemm_operands::*result = nullptr;
  void const* const* gemm_operands::*array = nullptr;
  /// Its description.
  matrix_desc gemm_problem::*matrix = nullptr;
  std::optional<matrix_desc> gemm_problem::*optional_matrix = nullptr;
  std::optional<scale_desc> gemm_problem::*scales = nullptr;
  vector_desc gemm_epilogue::*vector = nullptr;
  /// Of vectors: in texts "times a NOUN per row" or "plus a NOUN per row", the help of its option,
  /// the direction unless an option gives it, and whether a file's type is kept (else f32).
  bool multiplies = false;
  char const *noun = nullptr, *help = nullptr;
  along over_lines = along::cols;
  bool own_type = false;
  bool of_groups = false;  // GEMMs of groups alone have it
};

/// In the order of `role`.
inline constexpr std::array<operand_row, role_count> operand_rows = {{
    {.is = role::a,
     .word = "a",
     .text = "A",
     .field = "a",
     .transposed = role::b,
     .kind = operand_kind::matrix,
     .over = operand_axes::mk,
     .copy = operand_copy::lines,
     .input = &gemm_operands::a,
     .array = &gemm_operands::a_array,
     .matrix = &gemm_problem::a},
    {.is = role::b,
     .word = "b",
     .text = "B",
     .field = "b",
     .transposed = role::a,
     .kind = operand_kind::matrix,
     .over = operand_axes::kn,
     .copy = operand_copy::lines,
     .input = &gemm_operands::b,
     .array = &gemm_operands::b_array,
     .matrix = &gemm_problem::b},
    {.is = role::c,
     .word = "c",
     .text = "C",
     .field = "c",
     .transposed = role::c,
     .kind = operand_kind::matrix,
     .over = operand_axes::d,
     .input = &gemm_operands::c,
     .array = &gemm_operands::c_array,
     .optional_matrix = &gemm_problem::c},
    {.is = role::d,
     .word = "d",
     .text = "D",
     .field = "d",
     .transposed = role::d,
     .kind = operand_kind::matrix,
     .over = operand_axes::d,
     .copy = operand_copy::staged,
     .result = &gemm_operands::d,
     .matrix = &gemm_problem::d},
    {.is = role::aux,
     .word = "aux",
     .text = "the auxiliary output",
     .field = "aux",
     .transposed = role::aux,
     .kind = operand_kind::matrix,
     .over = operand_axes::mn,
     .result = &gemm_operands::aux,
     .optional_matrix = &gemm_problem::aux},
    {.is = role::bias,
     .word = "bias",
     .text = "the bias",
     .field = "bias",
     .transposed = role::bias,
     .kind = operand_kind::vector,
     .over = operand_axes::line,
     .input = &gemm_operands::bias,
     .vector = &gemm_epilogue::bias,
     .noun = "bias",
     .help = "vector that is added: a value per column of A B",
     .own_type = true},
    {.is = role::row_scale,
     .word = "row_scale",
     .text = "the row scale",
     .field = "row_scale",
     .transposed = role::col_scale,
     .kind = operand_kind::vector,
     .over = operand_axes::line,
     .input = &gemm_operands::row_scale,
     .vector = &gemm_epilogue::row_scale,
     .multiplies = true,
     .noun = "scale",
     .help = "vector of M factors, f32",
     .over_lines = along::rows},
    {.is = role::col_scale,
     .word = "col_scale",
     .text = "the column scale",
     .field = "col_scale",
     .transposed = role::row_scale,
     .kind = operand_kind::vector,
     .over = operand_axes::line,
     .input = &gemm_operands::col_scale,
     .vector = &gemm_epilogue::col_scale,
     .multiplies = true,
     .noun = "scale",
     .help = "vector of N factors, f32"},
    {.is = role::scale_a,
     .word = "scale_a",
     .text = "the scales of A",
     .field = "scale_a",
     .transposed = role::scale_b,
     .kind = operand_kind::scales,
     .over = operand_axes::mk,
     .of = role::a,
     .copy = operand_copy::factors,
     .input = &gemm_operands::scale_a,
     .scales = &gemm_problem::scale_a},
    {.is = role::scale_b,
     .word = "scale_b",
     .text = "the scales of B",
     .field = "scale_b",
     .transposed = role::scale_a,
     .kind = operand_kind::scales,
     .over = operand_axes::kn,
     .of = role::b,
     .copy = operand_copy::factors,
     .input = &gemm_operands::scale_b,
     .scales = &gemm_problem::scale_b},
    {.is = role::second_a,
     .word = "second_a",
     .text = "the second level of A's scales",
     .field = "second_level_a",
     .transposed = role::second_b,
     .kind = operand_kind::second_level,
     .over = operand_axes::mk,
     .of = role::a,
     .input = &gemm_operands::second_level_a},
    {.is = role::second_b,
     .word = "second_b",
     .text = "the second level of B's scales",
     .field = "second_level_b",
     .transposed = role::second_a,
     .kind = operand_kind::second_level,
     .over = operand_axes::kn,
     .of = role::b,
     .input = &gemm_operands::second_level_b},
    {.is = role::scale_d,
     .word = "scale_d",
     .text = "the scales of D",
     .field = "scale_d",
     .transposed = role::scale_d,
     .kind = operand_kind::result_scales,
     .over = operand_axes::d,
     .of = role::d,
     .result = &gemm_operands::scale_d},
    {.is = role::groups,
     .word = "groups",
     .text = "the sizes of the groups",
     .field = "groups",
     .transposed = role::groups,
     .kind = operand_kind::sizes,
     .over = operand_axes::line,
     .input = &gemm_operands::groups},
    {.is = role::row_weight,
     .word = "row_weight",
     .text = "the row weight",
     .field = "row_weight",
     .transposed = role::row_weight,
     .kind = operand_kind::vector,
     .over = operand_axes::line,
     .input = &gemm_operands::row_weight,
     .vector = &gemm_epilogue::row_weight,
     .multiplies = true,
     .noun = "weight",
     .help = "groups: vector of M factors after bias and activation, f32; of columns N",
     .over_lines = along::rows,
     .of_groups = true},
    {.is = role::group_alpha,
     .word = "group_alpha",
     .text = "the alpha of each group",
     .field = "group_alpha",
     .transposed = role::group_alpha,
     .kind = operand_kind::group_values,
     .over = operand_axes::line,
     .input = &gemm_operands::group_alpha,
     .of_groups = true},
    {.is = role::gather,
     .word = "gather",
     .text = "the rows that are gathered",
     .field = "gather",
     .transposed = role::gather,
     .kind = operand_kind::group_values,
     .over = operand_axes::line,
     .input = &gemm_operands::gather,
     .of_groups = true},
    {.is = role::scatter,
     .word = "scatter",
     .text = "the rows that are scattered",
     .field = "scatter",
     .transposed = role::scatter,
     .kind = operand_kind::group_values,
     .over = operand_axes::line,
     .input = &gemm_operands::scatter,
     .of_groups = true},
}};
constexpr operand_row const& row_of(role r) { return operand_rows[static_cast<std::size_t>(r)]; }
static_assert([] {
  for (int i = 0; i < role_count; ++i)
    if (operand_rows[static_cast<std::size_t>(i)].is != static_cast<role>(i)) return false;
  return true;
}());

/// Vectors of an epilogue.
inline constexpr int vector_count = [] {
  int count = 0;
  for (operand_row const& r : operand_rows) count += r.vector != nullptr ? 1 : 0;
  return count;
}();

/// A and B, which are multiplied: code for both is a loop over them.
inline constexpr role a_and_b[] = {role::a, role::b};

/// A value for A and one for B.
template <class T>
struct ab_table {
  T a{}, b{};
  constexpr T& operator[](role r) { return r == role::b ? b : a; }
  constexpr T const& operator[](role r) const { return r == role::b ? b : a; }
  bool operator==(ab_table const&) const = default;
};

/// The role of the scales of a matrix, and of their second level; none: it does not have them.
constexpr role scales_of(role matrix) {
  for (operand_row const& r : operand_rows)
    if (r.of == matrix && r.kind != operand_kind::second_level) return r.is;
  return role::none;
}
constexpr role second_level_of(role matrix) {
  for (operand_row const& r : operand_rows)
    if (r.of == matrix && r.kind == operand_kind::second_level) return r.is;
  return role::none;
}

/// A matrix of a problem; nullptr: the problem does not have it.
constexpr matrix_desc const* matrix_of(gemm_problem const& p, role r) {
  operand_row const& row = row_of(r);
  if (row.matrix != nullptr) return &(p.*row.matrix);
  if (row.optional_matrix == nullptr || !(p.*row.optional_matrix)) return nullptr;
  return &*(p.*row.optional_matrix);
}
constexpr matrix_desc* matrix_of(gemm_problem& p, role r) {
  return const_cast<matrix_desc*>(matrix_of(std::as_const(p), r));
}

/// The scales of A or of B.
constexpr std::optional<scale_desc> const& scale(gemm_problem const& p, role x) {
  return x == role::b ? p.scale_b : p.scale_a;
}
constexpr std::optional<scale_desc>& scale(gemm_problem& p, role x) {
  return x == role::b ? p.scale_b : p.scale_a;
}
/// The format of A or of B, if they are prepared weights.
constexpr weight_format const& weights(gemm_problem const& p, role x) {
  return x == role::b ? p.weights_b : p.weights_a;
}
constexpr weight_format& weights(gemm_problem& p, role x) {
  return x == role::b ? p.weights_b : p.weights_a;
}
constexpr bool has_weights(gemm_problem const& p) { return p.weights_a || p.weights_b; }

constexpr bool has_scales(gemm_problem const& p) { return p.scale_a || p.scale_b; }

/// Matrices of A, B or D (and C): one for each index of the batch, or for each group.
constexpr std::int64_t matrix_count(gemm_problem const& p, role x) {
  return x == role::a ? p.a_matrices() : x == role::b ? p.b_matrices() : p.d_matrices();
}
/// Does each group have separate rows of A, or columns of B?
constexpr bool of_each_group(gemm_problem const& p, role x) {
  return x == role::b ? p.cols_of_each_group() : p.rows_of_each_group();
}

/// K as scales of A and B have it: of groups of K whole blocks of 128, which begin anew in each.
constexpr std::int64_t scaled_k(gemm_problem const& p) {
  constexpr std::int64_t block = 128;
  if (!p.groups || p.groups->axis != group_axis::k) return p.k;
  std::int64_t const most = (p.k + (block - 1) * p.groups->count) / block;
  return block * (p.groups->scale_blocks > 0 ? p.groups->scale_blocks : most);
}

/// Rows of A or columns of B.
constexpr std::int64_t outer_extent(gemm_problem const& p, role x) {
  return x == role::b ? p.n : p.m;
}

/// Rows of A, or columns of B, in memory: others if groups gather them.
constexpr std::int64_t stored_extent(gemm_problem const& p, role x) {
  return x == role::b ? p.b_cols() : p.a_rows();
}

/// Scales of the rows of A or the columns of B that the epilogue multiplies.
constexpr role epilogue_scale_of(role x) {
  return x == role::b ? role::col_scale : role::row_scale;
}
constexpr vector_desc const& epilogue_scale(gemm_epilogue const& e, role x) {
  return e.*row_of(epilogue_scale_of(x)).vector;
}
constexpr vector_desc& epilogue_scale(gemm_epilogue& e, role x) {
  return e.*row_of(epilogue_scale_of(x)).vector;
}

/// An operand of a problem in memory: runs of adjacent elements. They begin at element
/// i step[0].stride_elems + j step[1].stride_elems, for each i and j below the counts: the lines,
/// and the matrices of the batch.
struct operand_desc {
  role is = role::none;
  elem type = elem::f32;
  bool written = false;
  bool by_pointers = false;  // the operand is an array of addresses, of `run` elements each
  std::int64_t run_elems = 0;
  struct repeat {
    std::int64_t stride_elems = 0, count = 1;
  };
  repeat step[2] = {};

  /// Bytes from the first element to the end of the last one.
  std::int64_t bytes() const;
};

/// Without an allocation: a launch has a few hundred nanoseconds.
struct operand_list {
  std::array<operand_desc, role_count> list = {};
  int count = 0;
  operand_desc const* begin() const { return list.data(); }
  operand_desc const* end() const { return list.data() + count; }
};

/// The operands that an accepted problem reads or writes, in the order of `role`. With K = 0 A, B
/// and their scales are not read. C is one of them whatever beta is.
operand_list operands_of(gemm_problem const& p);

/// The address of an operand; nullptr if it is not there. A batch by pointers does not read it.
constexpr void const* address(gemm_operands const& o, role r) {
  operand_row const& row = row_of(r);
  return row.input != nullptr ? o.*row.input : o.*row.result;
}
inline void set_address(gemm_operands& o, role r, void const* at) {
  operand_row const& row = row_of(r);
  if (row.input != nullptr)
    o.*row.input = at;
  else
    o.*row.result = const_cast<void*>(at);
}
/// The array of addresses of A, B, C or D; nullptr of other roles.
constexpr void const* const* address_array(gemm_operands const& o, role r) {
  if (r == role::d) return o.d_array;
  operand_row const& row = row_of(r);
  return row.array == nullptr ? nullptr : o.*row.array;
}

/// order[r]: the caller's operand that takes the place of operand r in a problem as run;
/// role::none: nothing does.
using operand_order = std::array<role, role_count>;
constexpr operand_order as_given() {
  operand_order order = {};
  for (operand_row const& r : operand_rows) order[static_cast<std::size_t>(r.is)] = r.is;
  return order;
}
/// The order of the transposed problem.
constexpr operand_order transposed(operand_order const& order) {
  operand_order t = {};
  for (operand_row const& r : operand_rows)
    t[static_cast<std::size_t>(r.is)] = order[static_cast<std::size_t>(r.transposed)];
  return t;
}
/// The operands in that order; the workspace is as it was.
gemm_operands in_order(gemm_operands const& given, operand_order const& order);

}  // namespace tw
