// SPDX-License-Identifier: Apache-2.0
// group_slices.hpp  Each group of a GEMM as a GEMM without groups, for references.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// The extent that the groups of a problem divide: M, N or K.
constexpr std::int64_t& ragged_extent(gemm_problem& p, group_axis axis) {
  return axis == group_axis::m ? p.m : axis == group_axis::n ? p.n : p.k;
}
constexpr std::int64_t ragged_extent(gemm_problem const& p) {
  group_axis const axis = p.groups->axis;
  return axis == group_axis::m ? p.m : axis == group_axis::n ? p.n : p.k;
}

/// Of which number all sizes, begins and ends of groups are multiples: 16 bytes in elements if they
/// divide an extent that is contiguous in A or B, since TMA begins a load at multiples of 16 bytes
/// there; else 1. Operands of 8 and 32 bits are contiguous along K, or are copied so. Slots begin
/// at their batch strides, and groups of the form rows at multiples of 128.
constexpr std::int64_t step_of_numbers(gemm_problem const& p) {
  bool const a_rows = p.a.ord == order::row_major, b_rows = p.b.ord == order::row_major;
  bool contiguous = false;
  switch (p.groups->axis) {
    case group_axis::k: contiguous = a_rows || !b_rows || size_bits(p.a.type) != 16; break;
    case group_axis::m: contiguous = !a_rows; break;
    default: contiguous = b_rows; break;
  }
  group_form const form = p.groups->form;
  if (!contiguous || form == group_form::counts || form == group_form::rows) return 1;
  return 8 * 16 / size_bits(p.a.type);
}

/// Rows, columns or elements of K [begin, begin + size) of a group; of a slot begin is 0.
/// first_block: of K, the blocks of 128 of the groups before.
struct group_range {
  std::int64_t begin = 0, size = 0, group = 0, first_block = 0;
};

/// The groups of an accepted problem, from the array in this process's memory, as kernels take
/// them; of the form `rows` only those that have rows, in the order of their rows. first_bad: the
/// first group, or row, whose number is not possible.
struct group_ranges {
  std::vector<group_range> of;
  std::optional<std::int64_t> first_bad;
};
group_ranges ranges_of_groups(gemm_problem const& p, void const* array);
/// Why a number of the array is not possible (TW0496), if one is not.
std::optional<rejection> refuse_numbers(gemm_problem const& p, void const* array);

/// A group as a separate GEMM: the problem without groups, and the operands at its first row,
/// column or k. An empty group has an extent of 0.
struct group_slice {
  gemm_problem problem;
  gemm_operands operands;
};
group_slice slice_of_group(gemm_problem const& p, gemm_operands const& o, group_range const& range);

}  // namespace tw
