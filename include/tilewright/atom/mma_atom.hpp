// SPDX-License-Identifier: Apache-2.0
// mma_atom.hpp  One matrix instruction as a value: shape, formats, where A comes from.
//
// An atom is a struct of scalars: pass it as a template argument, compare it, make one by filling
// the fields or by its name (mma_name.hpp):
//
//     constexpr mma_atom atom = find_mma("mma.sm90.m64n96k16.f32.bf16.bf16.ss");
//     layout_c(atom)       (thread, value) -> place in the column-major 64 x 96 tile of C
//
// Which atoms exist is mma_table.hpp, which thread holds what is mma_fragment.hpp.
// Example:  tests/atom/mma_fragment_test.cpp
#pragma once

#include "tilewright/arch/types.hpp"
#include "tilewright/atom/mma_type.hpp"

namespace tw {

/// The architecture that introduced the instruction; `fma` is one multiply-add of one thread.
enum class mma_arch : std::uint8_t { fma, sm61, sm70, sm75, sm80, sm89, sm90, sm100, sm120 };

/// Where an operand lives: registers of the threads, shared memory, tensor memory.
enum class mma_source : std::uint8_t { registers, shared, tensor };

/// Deviations from plain multiply and add: integer sums that saturate; bits that are anded or
/// xored and counted.
enum class mma_option : std::uint8_t { none, saturate, and_popc, xor_popc };

enum class mma_operand : std::uint8_t { a, b, c };

/// D = A B + C of one instruction; C has D's format and layout.
struct mma_atom {
  mma_arch arch = mma_arch::fma;
  int m = 1, n = 1, k = 1;
  mma_type d = mma_type::f32, a = mma_type::f32, b = mma_type::f32;
  mma_source a_from = mma_source::registers;
  operand_major a_major = operand_major::k, b_major = operand_major::k;
  mma_option option = mma_option::none;
  int ctas = 1;                     // tcgen05: CTAs that execute it together (cta_group)
  mma_type scale = mma_type::none;  // block-scaled: format of the scale factors
  int scale_block = 0;              // elements along k that share a factor

  bool operator==(mma_atom const&) const = default;
};

/// The atom executes in the tensor cores of a warpgroup, from shared memory (wgmma).
TW_HD constexpr bool is_wgmma(mma_atom const& a) { return a.arch == mma_arch::sm90 && a.m == 64; }

/// The accumulator is in tensor memory (tcgen05.mma).
TW_HD constexpr bool is_tcgen05(mma_atom const& a) { return a.arch == mma_arch::sm100; }

/// A kernel's parameter that is an atom: template <mma_atom Atom> or template <mma_atom_like T>.
template <class T>
concept mma_atom_like = requires(T const& t) {
  {t.m + t.n + t.k};
  {mma_atom(t)};
};

}  // namespace tw
