// SPDX-License-Identifier: Apache-2.0
// rules.hpp  Compile-time rules of tensors: one function per rule, named after it.
//
// The idiom is that of layout/rules.hpp: a broken rule is a subscript out of bounds of an array
// whose type is named after the rule; it shows both numbers, got * 1000000 + need.
// Example:  need_vector_run(4, 8) is refused with TW0140 and 4000008      tests/fail/tensor_*.cpp
#pragma once

#include "tilewright/layout/rules.hpp"

namespace tw::detail {

/// got = elements that are contiguous and start at multiples of their number, need = requested.
consteval bool need_vector_run(std::int64_t got, std::int64_t need) {
  if (got >= need) return true;
  using TW0140_vec_is_wider_than_the_contiguous_run_of_the_layout = int[1];
  [[maybe_unused]] int const e =
      TW0140_vec_is_wider_than_the_contiguous_run_of_the_layout{}[both(got, need)];
  return false;
}

/// got = bytes to which the elements are known to be aligned, need = bytes of the vector.
consteval bool need_alignment(std::int64_t got, std::int64_t need) {
  if (got >= need) return true;
  using TW0141_alignment_in_bytes_is_less_than_the_access_needs = int[1];
  [[maybe_unused]] int const e =
      TW0141_alignment_in_bytes_is_less_than_the_access_needs{}[both(got, need)];
  return false;
}

/// got = bytes of one access, need = most bytes of one access, or 0 where got is no power of two.
consteval bool need_vector_bytes(std::int64_t got, std::int64_t need) {
  if (got >= 1 && got <= need && (got & (got - 1)) == 0) return true;
  using TW0142_bytes_of_one_access_are_not_1_2_4_8_or_16 = int[1];
  [[maybe_unused]] int const e =
      TW0142_bytes_of_one_access_are_not_1_2_4_8_or_16{}[both(got, need)];
  return false;
}

/// got = modes of the tensor, need = modes requested.
consteval bool need_rank(std::int64_t got, std::int64_t need) {
  if (got == need) return true;
  using TW0143_number_of_modes_differs = int[1];
  [[maybe_unused]] int const e = TW0143_number_of_modes_differs{}[both(got, need)];
  return false;
}

/// got = size of a mode, need = size requested; a run-time size is got = -1.
consteval bool need_shape(std::int64_t got, std::int64_t need) {
  if (got == need) return true;
  using TW0144_size_of_a_mode_differs = int[1];
  [[maybe_unused]] int const e = TW0144_size_of_a_mode_differs{}[both(got, need)];
  return false;
}

/// got = number of run-time extents where an algorithm walks the whole tensor, need = 0.
consteval bool need_static_shape(std::int64_t got, std::int64_t need) {
  if (got == need) return true;
  using TW0145_run_time_extents_where_the_tensor_is_walked_take_a_tile = int[1];
  [[maybe_unused]] int const e =
      TW0145_run_time_extents_where_the_tensor_is_walked_take_a_tile{}[both(got, need)];
  return false;
}

/// How two shapes agree: the rule that is broken (0 for none) and its numbers.
struct agreement {
  int rule = 0;
  std::int64_t got = 0, need = 0;
};

/// The three rules above for two tensors that are walked together, said in one place so that
/// compilers show one call.
consteval bool need_agreement(agreement a) {
  using TW0143_number_of_modes_differs = int[1];
  using TW0144_size_of_a_mode_differs = int[1];
  using TW0145_run_time_extents_where_the_tensor_is_walked_take_a_tile = int[1];
  std::int64_t const numbers = both(a.got, a.need);
  [[maybe_unused]] int e = 0;
  if (a.rule == 143) e = TW0143_number_of_modes_differs{}[numbers];
  if (a.rule == 144) e = TW0144_size_of_a_mode_differs{}[numbers];
  if (a.rule == 145) {
    e = TW0145_run_time_extents_where_the_tensor_is_walked_take_a_tile{}[numbers];
  }
  return true;
}

/// got = leaves of a divided swizzled tensor that share offset bits with others, need = 0.
consteval bool need_own_bits(std::int64_t got, std::int64_t need) {
  if (got == need) return true;
  using TW0146_this_cut_of_a_swizzled_part_shares_offset_bits_cut_before_slicing = int[1];
  [[maybe_unused]] int const e =
      TW0146_this_cut_of_a_swizzled_part_shares_offset_bits_cut_before_slicing{}[both(got, need)];
  return false;
}

/// got = cells that a thread-value layout reaches, need = cells of the tile.
consteval bool need_inside_tile(std::int64_t got, std::int64_t need) {
  if (got <= need) return true;
  using TW0147_the_thread_value_layout_reaches_beyond_the_tile = int[1];
  [[maybe_unused]] int const e =
      TW0147_the_thread_value_layout_reaches_beyond_the_tile{}[both(got, need)];
  return false;
}

/// got = bits of an element of tensor memory, need = 32, a cell.
consteval bool need_cell(std::int64_t got, std::int64_t need) {
  if (got == need) return true;
  using TW0148_elements_of_tensor_memory_are_cells_of_32_bits = int[1];
  [[maybe_unused]] int const e =
      TW0148_elements_of_tensor_memory_are_cells_of_32_bits{}[both(got, need)];
  return false;
}

/// got = strides of the wrong kind (basis strides in memory, others in coordinates), need = 0.
consteval bool need_strides_of_the_space(std::int64_t got, std::int64_t need) {
  if (got == need) return true;
  using TW0149_strides_do_not_fit_the_space_of_the_tensor = int[1];
  [[maybe_unused]] int const e =
      TW0149_strides_do_not_fit_the_space_of_the_tensor{}[both(got, need)];
  return false;
}

/// got = run-time arguments given, need = run-time arguments of the layout.
consteval bool need_arguments(std::int64_t got, std::int64_t need) {
  if (got == need) return true;
  using TW0150_number_of_run_time_arguments_differs = int[1];
  [[maybe_unused]] int const e = TW0150_number_of_run_time_arguments_differs{}[both(got, need)];
  return false;
}

/// got = lanes or columns of tensor memory that the layout reaches, need = 128 or 512.
consteval bool need_lanes_and_columns(std::int64_t got, std::int64_t need) {
  if (got <= need) return true;
  using TW0154_more_lanes_or_columns_than_tensor_memory_has = int[1];
  [[maybe_unused]] int const e =
      TW0154_more_lanes_or_columns_than_tensor_memory_has{}[both(got, need)];
  return false;
}

/// got = bits of the elements read, need = bits of the elements written: another type.
consteval bool need_same_type(bool same, std::int64_t got, std::int64_t need) {
  if (same) return true;
  using TW0151_copy_between_element_types_use_transform_to_convert = int[1];
  [[maybe_unused]] int const e =
      TW0151_copy_between_element_types_use_transform_to_convert{}[both(got, need)];
  return false;
}

}  // namespace tw::detail
