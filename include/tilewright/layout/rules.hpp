// SPDX-License-Identifier: Apache-2.0
// rules.hpp  Rules of the layout algebra: one function per rule, named after it.
//
// At compile time the mistake is an array subscript out of bounds: the array's type is named after
// the rule, and the subscript shows both numbers, got * 1000000 + need. g++ and nvcc print both,
// and the chain of calls down to the line of the user. (A type, because g++ adds three lines to
// show where an array was declared.) At run time the host throws tw::rejected with the same code
// (tw::refused where the library is not linked: base/refusal.hpp); device code faults.
// Example:  composition("(4,8):(8,1)"_L, "6:1"_L) is refused by refuse_shape_split(6, 4)
#pragma once

#include <cstdint>

#include "tilewright/base/hd.hpp"
#include "tilewright/layout/rule_words.hpp"

namespace tw {

namespace detail {

TW_HD constexpr std::int64_t clamp_number(std::int64_t a) {
  constexpr std::int64_t most = 1000000000000;
  return a > most ? most : a < -most ? -most : a;
}

/// got * 1000000 + need, and never 0. nvcc prints 32 bits of it: where that is too few, got times
/// the smallest of 1000, 10000, 100000 that is more than need.
TW_HD constexpr std::int64_t both(std::int64_t got, std::int64_t need) {
  constexpr std::int64_t most = 0x7FFFFFFF;
  std::int64_t const g = clamp_number(got);
  std::int64_t const n = clamp_number(need);
  std::int64_t const s = g * 1000000 + n;
  if (s == 0) return 1000000000000;
  if ((s > most || s < -most) && n >= 0) {
    std::int64_t radix = 1000;
    while (radix <= n && radix < 1000000) radix *= 10;
    std::int64_t const closer = g * radix + n;
    if (n < radix && closer <= most && closer >= -most) return closer;
  }
  if ((s & 0xFFFFFFFF) == 0) return s + 1;  // nvcc 13.0 looks at 32 bits and crashes on a 0
  return s;
}

inline void throw_layout_refusal(int rule, std::int64_t got, std::int64_t need) {
  throw_refusal(layout_rule_words, rule, got, need);
}

/// Empty on the device.
TW_HOST_CALL
TW_HD inline void tell_host(int rule, std::int64_t got, std::int64_t need) {
  throw_layout_refusal(rule, got, need);
}

/// A kernel that evaluates a refused operation at run time faults here.
TW_HD inline void stop_device(int rule) {
  int volatile* volatile nowhere = nullptr;
  *nowhere = rule;
}

TW_HD inline void at_run_time(int rule, std::int64_t got, std::int64_t need) {
  tell_host(rule, got, need);
  stop_device(rule);
}

}  // namespace detail

/// Text that is not a layout, tree, tiler or swizzle: got = position, need = length of the text.
TW_HD constexpr void refuse_text(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(101, got, need);
  using TW0101_text_is_not_a_layout_at_position = int[1];
  [[maybe_unused]] int const e = TW0101_text_is_not_a_layout_at_position{}[detail::both(got, need)];
}

TW_HD constexpr void refuse_leaves(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(102, got, need);
  using TW0102_more_leaves_than_a_layout_can_hold = int[1];
  [[maybe_unused]] int const e =
      TW0102_more_leaves_than_a_layout_can_hold{}[detail::both(got, need)];
}

TW_HD constexpr void refuse_nesting(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(103, got, need);
  using TW0103_nested_too_deep_or_empty_inside = int[1];
  [[maybe_unused]] int const e = TW0103_nested_too_deep_or_empty_inside{}[detail::both(got, need)];
}

/// got = stride of B that remains, need = extent of A that it neither divides nor is divided by.
TW_HD constexpr void refuse_stride_split(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(104, got, need);
  using TW0104_composition_stride_of_B_and_extent_of_A_do_not_divide = int[1];
  [[maybe_unused]] int const e =
      TW0104_composition_stride_of_B_and_extent_of_A_do_not_divide{}[detail::both(got, need)];
}

/// got = extent of B that remains, need = part of A's extent that it must be a multiple of.
TW_HD constexpr void refuse_shape_split(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(105, got, need);
  using TW0105_composition_extent_of_B_is_not_divisible_by_extent_of_A = int[1];
  [[maybe_unused]] int const e =
      TW0105_composition_extent_of_B_is_not_divisible_by_extent_of_A{}[detail::both(got, need)];
}

/// got = largest sum of B's modes inside one extent of A, need = that extent.
TW_HD constexpr void refuse_carry(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(106, got, need);
  using TW0106_composition_modes_of_B_together_leave_an_extent_of_A = int[1];
  [[maybe_unused]] int const e =
      TW0106_composition_modes_of_B_together_leave_an_extent_of_A{}[detail::both(got, need)];
}

/// got = a stride of B of the other sign (need 0) or in a part of another leaf's mode (need 1).
TW_HD constexpr void refuse_inner_stride(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(107, got, need);
  using TW0107_composition_strides_of_B_have_two_signs_or_modes = int[1];
  [[maybe_unused]] int const e =
      TW0107_composition_strides_of_B_have_two_signs_or_modes{}[detail::both(got, need)];
}

/// got = a stride, need = the offsets that smaller strides cover, which must divide it.
TW_HD constexpr void refuse_overlap(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(108, got, need);
  using TW0108_complement_stride_is_not_a_multiple_of_what_is_covered = int[1];
  [[maybe_unused]] int const e =
      TW0108_complement_stride_is_not_a_multiple_of_what_is_covered{}[detail::both(got, need)];
}

/// got = a negative (need 0) or basis (need 1) stride where an ordinary positive one is needed.
TW_HD constexpr void refuse_stride(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(109, got, need);
  using TW0109_stride_must_be_a_positive_integer_here = int[1];
  [[maybe_unused]] int const e =
      TW0109_stride_must_be_a_positive_integer_here{}[detail::both(got, need)];
}

/// got, need = number of leaves (or modes) of two trees that must have the same profile.
TW_HD constexpr void refuse_profile(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(110, got, need);
  using TW0110_profiles_do_not_match = int[1];
  [[maybe_unused]] int const e = TW0110_profiles_do_not_match{}[detail::both(got, need)];
}

/// got = modes of the tiler, need = modes of the layout.
TW_HD constexpr void refuse_tiler_rank(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(111, got, need);
  using TW0111_tiler_has_more_modes_than_the_layout = int[1];
  [[maybe_unused]] int const e =
      TW0111_tiler_has_more_modes_than_the_layout{}[detail::both(got, need)];
}

/// got = index of a mode, need = number of modes.
TW_HD constexpr void refuse_mode(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(112, got, need);
  using TW0112_there_is_no_such_mode = int[1];
  [[maybe_unused]] int const e = TW0112_there_is_no_such_mode{}[detail::both(got, need)];
}

TW_HD constexpr void refuse_overflow(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(113, got, need);
  using TW0113_number_leaves_64_bits = int[1];
  [[maybe_unused]] int const e = TW0113_number_leaves_64_bits{}[detail::both(got, need)];
}

/// got = an extent, which must be at least need = 1, or a divisor, or a size.
TW_HD constexpr void refuse_extent(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(114, got, need);
  using TW0114_extent_is_not_positive = int[1];
  [[maybe_unused]] int const e = TW0114_extent_is_not_positive{}[detail::both(got, need)];
}

/// got = what a swizzle was given, need = its bound.
TW_HD constexpr void refuse_swizzle(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(115, got, need);
  using TW0115_swizzle_fields_overlap_or_are_out_of_range = int[1];
  [[maybe_unused]] int const e =
      TW0115_swizzle_fields_overlap_or_are_out_of_range{}[detail::both(got, need)];
}

/// got = bits of the swizzle of an operand that must be plain.
TW_HD constexpr void refuse_swizzled(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(116, got, need);
  using TW0116_operation_is_not_defined_for_a_swizzled_layout = int[1];
  [[maybe_unused]] int const e =
      TW0116_operation_is_not_defined_for_a_swizzled_layout{}[detail::both(got, need)];
}

/// got = an index or depth of a basis path, need = its bound.
TW_HD constexpr void refuse_path(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(117, got, need);
  using TW0117_basis_strides_do_not_form_one_coordinate = int[1];
  [[maybe_unused]] int const e =
      TW0117_basis_strides_do_not_form_one_coordinate{}[detail::both(got, need)];
}

/// got = extent of the shape to fill, need = extent of the block, which must divide it.
TW_HD constexpr void refuse_tile_shape(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(118, got, need);
  using TW0118_shape_is_not_filled_by_whole_blocks = int[1];
  [[maybe_unused]] int const e =
      TW0118_shape_is_not_filled_by_whole_blocks{}[detail::both(got, need)];
}

/// got = an extent, need = what is left of the divisor.
TW_HD constexpr void refuse_shape_div(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(124, got, need);
  using TW0124_shape_div_extent_and_divisor_do_not_divide = int[1];
  [[maybe_unused]] int const e =
      TW0124_shape_div_extent_and_divisor_do_not_divide{}[detail::both(got, need)];
}

/// got = a stride, need = the smaller stride it must be a multiple of, or what is used already.
TW_HD constexpr void refuse_left_inverse(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(125, got, need);
  using TW0125_left_inverse_strides_are_not_nested = int[1];
  [[maybe_unused]] int const e =
      TW0125_left_inverse_strides_are_not_nested{}[detail::both(got, need)];
}

/// got = a stride, need = the number of elements that become one.
TW_HD constexpr void refuse_upcast(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(126, got, need);
  using TW0126_upcast_stride_and_count_do_not_divide = int[1];
  [[maybe_unused]] int const e =
      TW0126_upcast_stride_and_count_do_not_divide{}[detail::both(got, need)];
}

/// got = leaves of stride 1, need = 1.
TW_HD constexpr void refuse_downcast(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(127, got, need);
  using TW0127_downcast_needs_one_leaf_of_stride_1 = int[1];
  [[maybe_unused]] int const e =
      TW0127_downcast_needs_one_leaf_of_stride_1{}[detail::both(got, need)];
}

/// got = how far the strides below need reach together, need = elements in a wide one.
TW_HD constexpr void refuse_upcast_carry(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(128, got, need);
  using TW0128_upcast_modes_together_leave_a_wide_element = int[1];
  [[maybe_unused]] int const e =
      TW0128_upcast_modes_together_leave_a_wide_element{}[detail::both(got, need)];
}

/// got = index of a run-time argument, need = its factor.
TW_HD constexpr void refuse_argument(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(129, got, need);
  using TW0129_run_time_argument_where_the_algebra_needs_a_number = int[1];
  [[maybe_unused]] int const e =
      TW0129_run_time_argument_where_the_algebra_needs_a_number{}[detail::both(got, need)];
}

/// got, need = indices of the run-time arguments; -1 for a position of a coordinate.
TW_HD constexpr void refuse_argument_product(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(130, got, need);
  using TW0130_product_of_two_run_time_arguments = int[1];
  [[maybe_unused]] int const e =
      TW0130_product_of_two_run_time_arguments{}[detail::both(got, need)];
}

/// got = what is counted there, a number or an argument's factor, need = the argument's index.
TW_HD constexpr void refuse_argument_extent(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(131, got, need);
  using TW0131_run_time_extent_is_cut_or_crossed = int[1];
  [[maybe_unused]] int const e =
      TW0131_run_time_extent_is_cut_or_crossed{}[detail::both(got, need)];
}

/// got = factor of a run-time value, need = what must divide it.
TW_HD constexpr void refuse_argument_division(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(132, got, need);
  using TW0132_run_time_value_is_not_known_to_be_divisible = int[1];
  [[maybe_unused]] int const e =
      TW0132_run_time_value_is_not_known_to_be_divisible{}[detail::both(got, need)];
}

/// got = index of the argument of a stride that would have to be compared, need = its factor.
TW_HD constexpr void refuse_argument_order(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(133, got, need);
  using TW0133_order_of_run_time_strides_is_not_known = int[1];
  [[maybe_unused]] int const e =
      TW0133_order_of_run_time_strides_is_not_known{}[detail::both(got, need)];
}

/// got = index or divisor of an argument, need = the largest there is.
TW_HD constexpr void refuse_argument_number(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::at_run_time(134, got, need);
  using TW0134_run_time_argument_out_of_range = int[1];
  [[maybe_unused]] int const e = TW0134_run_time_argument_out_of_range{}[detail::both(got, need)];
}

}  // namespace tw
