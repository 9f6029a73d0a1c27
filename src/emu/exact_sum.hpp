// SPDX-License-Identifier: Apache-2.0
// exact_sum.hpp  One element of D of one wgmma, bit for bit as a tensor core computes it.
//
// The rule is stated in base/accumulator_bits.hpp: the products of the operands and the incoming
// accumulator are aligned to the largest exponent, truncated, and added. Integers are exact; they
// wrap around or saturate.
#pragma once

#include <cstdint>

#include "tilewright/arch/wgmma_kind.hpp"

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

/// D = sum of a[k] * b[k] over form.k() elements, + c if accumulate. c and the result: the bits of
/// a float or an std::int32_t, or an f16 in the low half.
std::uint32_t exact_sum(wgmma_form const& form, operand_number const* a, operand_number const* b,
                        std::uint32_t c, bool accumulate);

}  // namespace tw::emu
