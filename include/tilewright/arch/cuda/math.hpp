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

/// 1/sqrt(x), within 2^-22.9 of it. PTX ISA, "rsqrt".
TW_DEVICE float rsqrt_approx(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// The logarithm of base 2: within 2^-22 where x is in (0.5, 2), else within 2^-22 of it. PTX
/// ISA, "lg2".
TW_DEVICE float log2_approx(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// The sine of x radians. The absolute error is at most 2^-20.5 for |x| <= 2 pi. PTX ISA, "sin".
TW_DEVICE float sin_approx(float x) {
  float y;
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// The cosine of x radians. The absolute error is at most 2^-20.5 for |x| <= 2 pi. PTX ISA, "cos".
TW_DEVICE float cos_approx(float x) {
  float y;
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// The hyperbolic tangent, within 2^-11 of it; subnormal numbers stay. PTX ISA, "tanh".
TW_DEVICE float tanh_approx(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
/// x/y within 2 units in the last place where |y| is in [2^-126, 2^126]; for a larger |y| it is 0,
/// or NaN where x is infinite. PTX ISA, "div": .approx.
TW_DEVICE float divide_approx(float x, float y) {
  float q;
  asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(q) : "f"(x), "f"(y));
  return q;
}
/// a * b + c, rounded once. PTX ISA, "fma".
TW_DEVICE float multiply_add(float a, float b, float c) {
  float d;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
  return d;
}

}  // namespace tw
