// SPDX-License-Identifier: Apache-2.0
// signed_nibble.hpp  The nibbles of prepared int4 weights for e4m3 without zero points. A nibble is
//                    an integer q from -8 to 7; three instructions convert four to e4m3.
//
// In e4m3 the bytes 0 to 16 are the numbers 0, 2^-9, 2 * 2^-9, ... 16 * 2^-9. The nibble of q >= 0
// is 2 q, and the nibble of q < 0 is 2 |q| - 1: the lowest bit is the sign. nibble + 0x81 * (lowest
// bit) is the byte 2 |q| with the sign in the top bit: the e4m3 number q * 2^-8. Kernels multiply
// the factor of each row by 2^8 (signed_factor).
#pragma once

#include "tilewright/base/hd.hpp"

namespace tw {

inline constexpr float signed_factor = 256;
/// Larger scales are refused: times signed_factor they leave less than five binades of float32.
inline constexpr float largest_signed_scale = 0x1p115F;

TW_HD constexpr unsigned signed_nibble_of(int q) {
  return static_cast<unsigned>(q < 0 ? -2 * q - 1 : 2 * q);
}
TW_HD constexpr int of_signed_nibble(unsigned nibble) {
  int const half = static_cast<int>((nibble + 1) / 2);
  return nibble % 2 == 1 ? -half : half;
}

}  // namespace tw
