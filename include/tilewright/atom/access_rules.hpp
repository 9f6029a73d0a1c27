// SPDX-License-Identifier: Apache-2.0
// access_rules.hpp  Rules of accesses to shared memory: one function per rule, as in
//                   layout/rules.hpp.
// Example:  tests/atom/access_test.cpp "refusals"
#pragma once

#include "tilewright/atom/access_words.hpp"
#include "tilewright/layout/rules.hpp"

namespace tw {

namespace detail {

inline void throw_access_refusal(int rule, std::int64_t got, std::int64_t need) {
  throw_refusal(access_rule_words, rule, got, need);
}

TW_HOST_CALL
TW_HD inline void tell_access_host(int rule, std::int64_t got, std::int64_t need) {
  throw_access_refusal(rule, got, need);
}

TW_HD inline void access_at_run_time(int rule, std::int64_t got, std::int64_t need) {
  tell_access_host(rule, got, need);
  stop_device(rule);
}

}  // namespace detail

/// got = neighbouring elements of one thread that are neighbours in memory, need = what it accesses
/// at once.
TW_HD constexpr void refuse_scattered(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::access_at_run_time(160, got, need);
  int const TW0160_elements_of_one_access_are_not_contiguous[1] = {0};
  [[maybe_unused]] int const e =
      TW0160_elements_of_one_access_are_not_contiguous[detail::both(got, need)];
}

/// got = a byte address, need = what it must be a multiple of.
TW_HD constexpr void refuse_unaligned(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::access_at_run_time(161, got, need);
  int const TW0161_access_is_not_aligned_to_its_width[1] = {0};
  [[maybe_unused]] int const e = TW0161_access_is_not_aligned_to_its_width[detail::both(got, need)];
}

/// got = an extent of the tile, need = what it must be a multiple of.
TW_HD constexpr void refuse_unfilled(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::access_at_run_time(162, got, need);
  int const TW0162_tile_is_not_made_of_whole_accesses[1] = {0};
  [[maybe_unused]] int const e = TW0162_tile_is_not_made_of_whole_accesses[detail::both(got, need)];
}

/// got = bits of an element, need = bits that the access can move.
TW_HD constexpr void refuse_element_bits(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::access_at_run_time(163, got, need);
  int const TW0163_access_does_not_move_elements_of_this_width[1] = {0};
  [[maybe_unused]] int const e =
      TW0163_access_does_not_move_elements_of_this_width[detail::both(got, need)];
}

/// got = an index that a thread would access, need = the tile's size.
TW_HD constexpr void refuse_outside(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::access_at_run_time(164, got, need);
  int const TW0164_thread_accesses_beyond_the_tile[1] = {0};
  [[maybe_unused]] int const e = TW0164_thread_accesses_beyond_the_tile[detail::both(got, need)];
}

/// got = bytes between neighbouring 16-byte rows before the swizzle, need = what this swizzle has.
TW_HD constexpr void refuse_form(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::access_at_run_time(165, got, need);
  int const TW0165_layout_is_not_one_that_the_hardware_reads_or_writes[1] = {0};
  [[maybe_unused]] int const e =
      TW0165_layout_is_not_one_that_the_hardware_reads_or_writes[detail::both(got, need)];
}

/// got = modes of the tile, or of the threads' layout, need = how many there are to be.
TW_HD constexpr void refuse_rank(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::access_at_run_time(166, got, need);
  int const TW0166_tile_or_threads_have_another_number_of_modes[1] = {0};
  [[maybe_unused]] int const e =
      TW0166_tile_or_threads_have_another_number_of_modes[detail::both(got, need)];
}

/// got = bytes, need = bytes of shared memory that a CTA can have.
TW_HD constexpr void refuse_tile_bytes(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::access_at_run_time(167, got, need);
  int const TW0167_tile_does_not_fit_shared_memory[1] = {0};
  [[maybe_unused]] int const e = TW0167_tile_does_not_fit_shared_memory[detail::both(got, need)];
}

}  // namespace tw
