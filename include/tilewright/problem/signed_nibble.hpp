// SPDX-License-Identifier: Apache-2.0
// signed_nibble.hpp  How prepared int4 weights for e4m3 without zero points keep an integer from -8
//                    to 7: so that a few instructions make e4m3 of it.
//
// The codes of e4m3 from 0 to 16 are the multiples of its smallest number, 2^-9. A nibble is 2 q of
// a q from 0 on, 2 |q| - 1 of a negative one, so that its lowest bit is the sign: nibble + sign *
// 0x81 is the code of q 2^-8. A kernel multiplies the factors of rows by 2^8.
#pragma once

#include "tilewright/base/hd.hpp"

namespace tw {

inline constexpr float signed_factor = 256;
/// The largest scale that, multiplied by signed_factor, is finite, with 16 as a factor.
inline constexpr float largest_signed_scale = 0x1p115F;

TW_HD constexpr unsigned signed_nibble_of(int q) {
  return static_cast<unsigned>(q < 0 ? -2 * q - 1 : 2 * q);
}
TW_HD constexpr int of_signed_nibble(unsigned nibble) {
  int const half = static_cast<int>((nibble + 1) / 2);
  return nibble % 2 == 1 ? -half : half;
}

}  // namespace tw
