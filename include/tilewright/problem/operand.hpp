// SPDX-License-Identifier: Apache-2.0
// operand.hpp  The operands of a GEMM: a row for each role, and the place of each in memory.
//
// Code for all operands is a loop over operand_rows or over operands_of(problem): the checks of
// addresses and overlaps, the key of remembered plans, the exchange of A and B, copies to and from
// a GPU. A new operand is a row here, a member of gemm_problem and of gemm_operands, and its cases
// of the functions in operand.cpp.
#pragma once

#include <array>
#include <cstdint>

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
  none
};
inline constexpr int role_count = static_cast<int>(role::none);

struct operand_row {
  role is;
  char const* word;   // its name as an argument in C and Python
  char const* text;   // in messages: "the scales of A"
  char const* field;  // the member of gemm_operands
  role transposed;    // its role in D^T = B^T A^T, which the kernel computes with A and B exchanged
};

/// In the order of `role`.
inline constexpr std::array<operand_row, role_count> operand_rows = {{
    {role::a, "a", "A", "a", role::b},
    {role::b, "b", "B", "b", role::a},
    {role::c, "c", "C", "c", role::c},
    {role::d, "d", "D", "d", role::d},
    {role::aux, "aux", "the auxiliary output", "aux", role::aux},
    {role::bias, "bias", "the bias", "bias", role::bias},
    {role::row_scale, "row_scale", "the row scale", "row_scale", role::col_scale},
    {role::col_scale, "col_scale", "the column scale", "col_scale", role::row_scale},
    {role::scale_a, "scale_a", "the scales of A", "scale_a", role::scale_b},
    {role::scale_b, "scale_b", "the scales of B", "scale_b", role::scale_a},
    {role::second_a, "second_a", "the second level of A's scales", "second_level_a",
     role::second_b},
    {role::second_b, "second_b", "the second level of B's scales", "second_level_b",
     role::second_a},
    {role::scale_d, "scale_d", "the scales of D", "scale_d", role::scale_d},
    {role::groups, "groups", "the sizes of the groups", "groups", role::groups},
}};
constexpr operand_row const& row_of(role r) { return operand_rows[static_cast<std::size_t>(r)]; }

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
void const* address(gemm_operands const& o, role r);
void set_address(gemm_operands& o, role r, void const* at);
/// The array of addresses of A, B, C or D; nullptr of other roles.
void const* address_array(gemm_operands const& o, role r);

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
