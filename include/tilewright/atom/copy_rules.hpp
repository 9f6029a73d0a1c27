// SPDX-License-Identifier: Apache-2.0
// copy_rules.hpp  Rules of copy atoms, shared-memory atoms, descriptors and TMA parameters.
//
// One function per rule, as in layout/rules.hpp: at compile time the mistake is an array subscript
// that shows got * 1000000 + need, at run time the host throws tw::rejected, device code faults.
// Example:  tests/atom/copy_refusal_test.cpp
#pragma once

#include "tilewright/atom/copy_words.hpp"
#include "tilewright/layout/rules.hpp"

namespace tw {

namespace detail {

inline void throw_copy_refusal(int rule, std::int64_t got, std::int64_t need) {
  throw_refusal(copy_rule_words, rule, got, need);
}

TW_HOST_CALL
TW_HD inline void tell_copy_host(int rule, std::int64_t got, std::int64_t need) {
  throw_copy_refusal(rule, got, need);
}

TW_HD inline void copy_at_run_time(int rule, std::int64_t got, std::int64_t need) {
  tell_copy_host(rule, got, need);
  stop_device(rule);
}

}  // namespace detail

/// got = bits of an element, need = consecutive bits of one thread.
TW_HD constexpr void refuse_split_value(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(230, got, need);
  int const TW0230_copy_value_is_split_between_threads_or_cut_short[1] = {0};
  [[maybe_unused]] int const e =
      TW0230_copy_value_is_split_between_threads_or_cut_short[detail::both(got, need)];
}

/// got = threads (or values per thread) of a tiled copy, need = those of its atom.
TW_HD constexpr void refuse_copy_tile(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(231, got, need);
  int const TW0231_threads_or_values_are_no_multiple_of_the_copy_atom[1] = {0};
  [[maybe_unused]] int const e =
      TW0231_threads_or_values_are_no_multiple_of_the_copy_atom[detail::both(got, need)];
}

/// got = an address that a thread copies, need = a coordinate of the data there (the size).
TW_HD constexpr void refuse_uncovered(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(232, got, need);
  int const TW0232_cotiled_copy_reaches_an_address_without_data[1] = {0};
  [[maybe_unused]] int const e =
      TW0232_cotiled_copy_reaches_an_address_without_data[detail::both(got, need)];
}

/// got = the name's length, need = characters of it that are known.
TW_HD constexpr void refuse_copy_name(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(233, got, need);
  int const TW0233_no_copy_atom_of_this_name[1] = {0};
  [[maybe_unused]] int const e = TW0233_no_copy_atom_of_this_name[detail::both(got, need)];
}

/// got = the number in the name, need = the largest.
TW_HD constexpr void refuse_copy_size(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(234, got, need);
  int const TW0234_copy_atom_does_not_come_in_this_size[1] = {0};
  [[maybe_unused]] int const e =
      TW0234_copy_atom_does_not_come_in_this_size[detail::both(got, need)];
}

/// got = bits of an element, need = the bits of a unit.
TW_HD constexpr void refuse_smem_bits(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(235, got, need);
  int const TW0235_no_shared_memory_atom_of_this_element_width[1] = {0};
  [[maybe_unused]] int const e =
      TW0235_no_shared_memory_atom_of_this_element_width[detail::both(got, need)];
}

/// got = an extent of the tile, need = what the smallest atom has there.
TW_HD constexpr void refuse_smem_fit(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(236, got, need);
  int const TW0236_no_shared_memory_atom_fits_the_tile[1] = {0};
  [[maybe_unused]] int const e =
      TW0236_no_shared_memory_atom_fits_the_tile[detail::both(got, need)];
}

/// got, need = 100 bits + 10 base + shift, in bytes.
TW_HD constexpr void refuse_operand_swizzle(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(237, got, need);
  int const TW0237_swizzle_is_not_one_of_shared_memory[1] = {0};
  [[maybe_unused]] int const e =
      TW0237_swizzle_is_not_one_of_shared_memory[detail::both(got, need)];
}

/// got = a stride in elements, need = 1.
TW_HD constexpr void refuse_operand_contiguous(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(238, got, need);
  int const TW0238_operand_is_not_contiguous_along_its_major_mode[1] = {0};
  [[maybe_unused]] int const e =
      TW0238_operand_is_not_contiguous_along_its_major_mode[detail::both(got, need)];
}

/// got = bits, need = 128.
TW_HD constexpr void refuse_operand_units(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(239, got, need);
  int const TW0239_operand_strides_are_no_multiples_of_16_bytes[1] = {0};
  [[maybe_unused]] int const e =
      TW0239_operand_strides_are_no_multiples_of_16_bytes[detail::both(got, need)];
}

/// got = where a row or 16-byte unit lies, need = where the canonical layout has it (units of 16
/// bytes).
TW_HD constexpr void refuse_operand_rows(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(240, got, need);
  int const TW0240_operand_is_not_canonical[1] = {0};
  [[maybe_unused]] int const e = TW0240_operand_is_not_canonical[detail::both(got, need)];
}

/// got = an extent in elements, need = the extent or its divisor.
TW_HD constexpr void refuse_operand_extent(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(241, got, need);
  int const TW0241_operand_step_has_another_extent[1] = {0};
  [[maybe_unused]] int const e = TW0241_operand_step_has_another_extent[detail::both(got, need)];
}

/// got = bytes from the tile's start, need = the pattern that it must be a multiple of.
TW_HD constexpr void refuse_operand_start(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(242, got, need);
  int const TW0242_operand_starts_inside_the_swizzle_pattern[1] = {0};
  [[maybe_unused]] int const e =
      TW0242_operand_starts_inside_the_swizzle_pattern[detail::both(got, need)];
}

/// got = bytes, need = the bound.
TW_HD constexpr void refuse_descriptor_field(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(243, got, need);
  int const TW0243_offset_does_not_fit_the_descriptor[1] = {0};
  [[maybe_unused]] int const e = TW0243_offset_does_not_fit_the_descriptor[detail::both(got, need)];
}

/// got = elements of the tiler, need = those of the shared-memory layout.
TW_HD constexpr void refuse_tma_size(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(244, got, need);
  int const TW0244_tma_tile_and_shared_memory_differ_in_size[1] = {0};
  [[maybe_unused]] int const e =
      TW0244_tma_tile_and_shared_memory_differ_in_size[detail::both(got, need)];
}

/// got = global stride of what is contiguous in shared memory, need = 1.
TW_HD constexpr void refuse_tma_contiguous(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(245, got, need);
  int const TW0245_tma_shared_and_global_memory_are_contiguous_along_different_modes[1] = {0};
  [[maybe_unused]] int const e =
      TW0245_tma_shared_and_global_memory_are_contiguous_along_different_modes[detail::both(got,
                                                                                            need)];
}

/// got = an extent of the box, need = 256.
TW_HD constexpr void refuse_tma_box(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(246, got, need);
  int const TW0246_tma_box_has_more_than_256_elements_along_a_mode[1] = {0};
  [[maybe_unused]] int const e =
      TW0246_tma_box_has_more_than_256_elements_along_a_mode[detail::both(got, need)];
}

/// got = bytes of a row of the box, need = the unit (16) or the span.
TW_HD constexpr void refuse_tma_inner(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(247, got, need);
  int const TW0247_tma_box_row_is_not_16_bytes_or_leaves_the_swizzle_span[1] = {0};
  [[maybe_unused]] int const e =
      TW0247_tma_box_row_is_not_16_bytes_or_leaves_the_swizzle_span[detail::both(got, need)];
}

/// got = bits, need = 128.
TW_HD constexpr void refuse_tma_stride(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(248, got, need);
  int const TW0248_tma_stride_is_no_multiple_of_16_bytes[1] = {0};
  [[maybe_unused]] int const e =
      TW0248_tma_stride_is_no_multiple_of_16_bytes[detail::both(got, need)];
}

/// got = an extent of the tensor, need = 2^32.
TW_HD constexpr void refuse_tma_extent(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(304, got, need);
  int const TW0304_tma_extent_is_more_than_2_to_the_32[1] = {0};
  [[maybe_unused]] int const e =
      TW0304_tma_extent_is_more_than_2_to_the_32[detail::both(got, need)];
}

/// got = bytes of a stride, need = 2^40.
TW_HD constexpr void refuse_tma_stride_bytes(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(305, got, need);
  int const TW0305_tma_stride_is_not_below_2_to_the_40_bytes[1] = {0};
  [[maybe_unused]] int const e =
      TW0305_tma_stride_is_not_below_2_to_the_40_bytes[detail::both(got, need)];
}

/// got = modes of the tensor, need = 5.
TW_HD constexpr void refuse_tma_rank(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::copy_at_run_time(249, got, need);
  int const TW0249_tma_needs_more_than_five_modes[1] = {0};
  [[maybe_unused]] int const e = TW0249_tma_needs_more_than_five_modes[detail::both(got, need)];
}

}  // namespace tw
