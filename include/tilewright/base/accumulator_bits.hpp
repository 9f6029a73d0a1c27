// SPDX-License-Identifier: Apache-2.0
// accumulator_bits.hpp  How the tensor cores of Hopper add: the bits that each kind of wgmma keeps.
//
// One wgmma adds its K terms a * b and the accumulator that comes in at once. Each term t is a
// significand times a power of two, 2^e(t): e is the sum of the exponents of both factors, or the
// exponent of the accumulator (subnormal numbers have the smallest exponent of their type). Let E
// be the largest e. Every term is truncated (towards zero) to a multiple of 2^(E - kept_bits);
// these are added exactly; the sum becomes the result with result_bits bits after the leading one:
// truncated, or rounded to nearest even where it is an f16.
//
// Source: measured on an H100 SXM by tests/gpu/accumulator_bits.cu, for every kind:
//         data/accumulator_bits/h100_sxm.json. No document of NVIDIA states the rule. The program
//         also compares random data with it bit for bit;
//         no result differed.
// Used by:  the bit-exact mode of the emulator (src/emu/exact_sum.cpp), the proven error bound
#pragma once

#include "tilewright/base/elem.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

struct accumulator_rule {
  int kept_bits;    // terms are cut below 2^(E - kept_bits)
  int result_bits;  // of the result's fraction
  bool to_nearest;  // the result; otherwise it is truncated
};

/// The rule of a wgmma with operands of these types (types of one width behave alike) and sums of
/// type f32 or f16. Integer sums are exact.
TW_HD constexpr accumulator_rule accumulator_rule_of(elem operands, elem sums) {
  bool const is_fp8 = traits_of(operands).sums == accumulation::f32_promoted;
  int const kept = is_fp8 ? 13 : 25;
  if (sums == elem::f16) return {kept, 10, true};
  return {kept, is_fp8 ? 13 : 23, false};
}

}  // namespace tw
