// SPDX-License-Identifier: Apache-2.0
// accumulator_bits.hpp  How the tensor cores of Hopper and Blackwell add: the bits that each kind
//                       of wgmma and tcgen05.mma keeps.
//
// One wgmma adds its K terms a * b and the accumulator that comes in at once. Each term t is a
// significand times a power of two, 2^e(t): e is the sum of the exponents of both factors, or the
// exponent of the accumulator (subnormal numbers have the smallest exponent of their type). Let E
// be the largest e. Every term is truncated (towards zero) to a multiple of 2^(E - kept_bits);
// these are added exactly; the sum becomes the result with result_bits bits after the leading one:
// truncated, or rounded to nearest even if it is an f16.
//
// Source: measured on an H100 SXM by tests/gpu/accumulator_bits.cu, for every kind:
//         data/accumulator_bits/h100_sxm.json. No document of NVIDIA states the rule. The program
//         also compares random data with it bit for bit;
//         no result differed.
//
// mma.sync with f16 or bf16 operands is taken to add by the rule of a wgmma. On an H100
// tests/gpu/typed.cu found the same bits for f16 operands; an Ampere GPU was not measured.
//
// One tcgen05.mma adds by the same rule, with 25 kept bits for every type of 8 bits too. With scale
// factors the exponent of a term contains those of its two factors, and the significands of the
// factors multiply it. Of .kind::mxf4 and .kind::mxf4nvf4 a term is the exact sum of 16 a * b,
// times its factors, and its exponent is that of the factors alone; 35 bits are kept.
//
// Source: MMA-Sim, arXiv 2511.10909, whose authors compared the model with a B200. It covers f16,
//         bf16, tf32, e4m3, e5m2 and the block-scaled kinds. It was not compared with a Blackwell
//         GPU here. It does not say two things. Subnormal elements of 4 and 6 bits of .kind::f8f6f4
//         and .kind::mxf8f6f4: here they have the smallest exponent of their type. Zeros: here they
//         do not raise the largest exponent, as was measured of wgmma.
// Used by:  the bit-exact mode of the emulator (src/emu/wgmma/exact_sum.cpp), the proven error
//           bound
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
  int const kept = is_fp8(operands) ? 13 : 25;
  if (holds_half_sums(sums)) return {kept, 10, true};
  return {kept, is_fp8(operands) ? 13 : 23, false};
}

/// The rule of a tcgen05.mma with D of type f32 or f16, whose terms are single a * b.
TW_HD constexpr accumulator_rule tcgen05_rule_of(elem d) {
  if (holds_half_sums(d)) return {25, 10, true};
  return {25, 23, false};
}

/// Of .kind::mxf4 and .kind::mxf4nvf4: elements of K in a term, and the rule of the terms.
inline constexpr int tcgen05_group_k = 16;
inline constexpr accumulator_rule tcgen05_group_rule{35, 23, false};

}  // namespace tw
