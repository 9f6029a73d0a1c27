// SPDX-License-Identifier: Apache-2.0
// mma_rules.hpp  Rules of MMA atoms: one function per rule, named after it.
//
// The idiom is that of layout/rules.hpp: at compile time an array named after the rule is
// subscripted with got * 1000000 + need, which g++ and nvcc print with the line of the user; at run
// time the host throws tw::rejected with the same code.
// Example:  find_mma("mma.sm90.m64n100k16.f32.bf16.bf16.ss") is refused by refuse_mma_shape
#pragma once

#include "tilewright/atom/mma_words.hpp"
#include "tilewright/layout/rules.hpp"

namespace tw {

namespace detail {

inline void throw_mma_refusal(int rule, std::int64_t got, std::int64_t need) {
  throw_refusal(mma_rule_words, rule, got, need);
}

TW_HOST_CALL
TW_HD inline void tell_host_mma(int rule, std::int64_t got, std::int64_t need) {
  throw_mma_refusal(rule, got, need);
}
TW_HD inline void mma_at_run_time(int rule, std::int64_t got, std::int64_t need) {
  tell_host_mma(rule, got, need);
  stop_device(rule);
}

}  // namespace detail

/// Text that is no atom's name: got = position of the first wrong part, need = length of the text.
TW_HD constexpr void refuse_mma_name(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::mma_at_run_time(210, got, need);
  int const TW0210_name_is_not_that_of_an_mma_atom[1] = {0};
  [[maybe_unused]] int const e = TW0210_name_is_not_that_of_an_mma_atom[detail::both(got, need)];
}

/// No row of the table has this instruction: got = N, need = M * 1000 + K of the request.
TW_HD constexpr void refuse_mma_shape(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::mma_at_run_time(211, got, need);
  int const TW0211_no_instruction_has_this_shape_with_these_formats[1] = {0};
  [[maybe_unused]] int const e =
      TW0211_no_instruction_has_this_shape_with_these_formats[detail::both(got, need)];
}

/// got = an operand or field that the atom does not have, need = how many there are.
TW_HD constexpr void refuse_mma_operand(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::mma_at_run_time(213, got, need);
  int const TW0213_atom_has_no_such_operand[1] = {0};
  [[maybe_unused]] int const e = TW0213_atom_has_no_such_operand[detail::both(got, need)];
}

/// got = modes of an atom layout or of a permutation, need = 3.
TW_HD constexpr void refuse_tiled_mma_rank(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::mma_at_run_time(214, got, need);
  int const TW0214_tiled_mma_has_modes_m_n_k[1] = {0};
  [[maybe_unused]] int const e = TW0214_tiled_mma_has_modes_m_n_k[detail::both(got, need)];
}

/// got = extent of a permutation, need = what it must be a multiple of: atom x atoms along it.
TW_HD constexpr void refuse_tiled_mma_tile(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::mma_at_run_time(215, got, need);
  int const TW0215_permutation_is_not_filled_by_the_atoms[1] = {0};
  [[maybe_unused]] int const e =
      TW0215_permutation_is_not_filled_by_the_atoms[detail::both(got, need)];
}

/// got = threads with consecutive numbers, need = threads of the tiled MMA.
TW_HD constexpr void refuse_tiled_mma_threads(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::mma_at_run_time(216, got, need);
  int const TW0216_threads_of_a_tiled_mma_are_not_consecutive[1] = {0};
  [[maybe_unused]] int const e =
      TW0216_threads_of_a_tiled_mma_are_not_consecutive[detail::both(got, need)];
}

/// got = index of a thread, need = number of threads.
TW_HD constexpr void refuse_mma_thread(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::mma_at_run_time(217, got, need);
  int const TW0217_tiled_mma_has_no_such_thread[1] = {0};
  [[maybe_unused]] int const e = TW0217_tiled_mma_has_no_such_thread[detail::both(got, need)];
}

/// got = rows or columns of an accumulator in tensor memory, need = what it may be (largest).
TW_HD constexpr void refuse_tmem_shape(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::mma_at_run_time(218, got, need);
  int const TW0218_tensor_memory_does_not_hold_this_shape[1] = {0};
  [[maybe_unused]] int const e =
      TW0218_tensor_memory_does_not_hold_this_shape[detail::both(got, need)];
}

/// got = a value, need = the largest that its field of an instruction descriptor takes.
TW_HD constexpr void refuse_idesc_field(std::int64_t got, std::int64_t need) {
  if (!__builtin_is_constant_evaluated()) return detail::mma_at_run_time(219, got, need);
  int const TW0219_value_does_not_fit_the_instruction_descriptor[1] = {0};
  [[maybe_unused]] int const e =
      TW0219_value_does_not_fit_the_instruction_descriptor[detail::both(got, need)];
}

}  // namespace tw
