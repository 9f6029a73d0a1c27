// SPDX-License-Identifier: Apache-2.0
// exact_sum.hpp  One element of D of one wgmma or tcgen05.mma, bit for bit as a tensor core
//                computes it.
//
// The rule is stated in base/accumulator_bits.hpp: the products of the operands and the incoming
// accumulator are aligned to the largest exponent, truncated, and added. Integers are exact; they
// wrap around or saturate.
#pragma once

#include <cstdint>

#include "tilewright/arch/wgmma_kind.hpp"
#include "tilewright/base/accumulator_bits.hpp"

namespace tw::emu {

/// An operand element as the tensor core takes it apart.
struct operand_number {
  enum class special : std::uint8_t { no, infinity, nan };
  std::int32_t significand;  // with sign; an integer value for s8 and u8
  std::int16_t exponent;     // value = significand * 2^(exponent - fraction bits of the type)
  special kind;
};

/// The number that the low bits of `bits` are in this type.
operand_number operand_number_of(elem type, std::uint32_t bits);

/// A number that is added: significand * 2^(exponent - fraction bits). Of an infinity the
/// significand has the sign.
struct sum_term {
  std::int64_t significand;
  int exponent;
  operand_number::special kind;
};

/// x times y, exact.
sum_term product_of(operand_number const& x, operand_number const& y);

/// The sum of the terms, + c if accumulate, by the rule. sums: f32 or f16, the type of c and of the
/// result. Preconditions: at most 64 terms of magnitudes below 2^(fraction bits + 13).
std::uint32_t sum_of_terms(sum_term const* terms, int count, int fraction_bits,
                           accumulator_rule const& rule, elem sums, std::uint32_t c,
                           bool accumulate);

/// D = sum of a[k] * b[k] over form.k() elements, + c if accumulate. c and the result: the bits of
/// a float or an std::int32_t, or an f16 in the low half.
std::uint32_t exact_sum(wgmma_form const& form, operand_number const* a, operand_number const* b,
                        std::uint32_t c, bool accumulate);

}  // namespace tw::emu
