// SPDX-License-Identifier: Apache-2.0
// math.hpp  Approximations by the special function unit. Subnormal arguments and results are zero.
#pragma once

#include "tilewright/base/hd.hpp"

namespace tw {

/// 2^x within 2^-22 of it. PTX ISA, "ex2".
TW_DEVICE float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// 1/x within one unit in the last place, 2^-23 of it. PTX ISA, "rcp.approx.ftz".
TW_DEVICE float reciprocal_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

}  // namespace tw
