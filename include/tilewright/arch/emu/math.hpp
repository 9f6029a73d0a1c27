// SPDX-License-Identifier: Apache-2.0
// math.hpp  Approximations by the special function unit, here rounded to nearest. Subnormal
//           arguments and results are zero.
#pragma once

#include <math.h>

#include <cmath>

#include "tilewright/base/hd.hpp"

namespace tw {

namespace detail {
inline float flushed(float x) { return fabsf(x) < 0x1p-126F ? copysignf(0.0F, x) : x; }
/// f in double precision, rounded to float: the exact function, rounded once but for rare cases.
template <class F>
float rounded(float x, F f) {
  return flushed(static_cast<float>(f(static_cast<double>(flushed(x)))));
}
}  // namespace detail

TW_DEVICE float exp2_approx(float x) { return detail::flushed(exp2f(detail::flushed(x))); }

TW_DEVICE float reciprocal_approx(float x) { return detail::flushed(1.0F / detail::flushed(x)); }

TW_DEVICE float rsqrt_approx(float x) {
  return detail::rounded(x, [](double x) { return 1.0 / std::sqrt(x); });
}
TW_DEVICE float log2_approx(float x) {
  return detail::rounded(x, [](double x) { return std::log2(x); });
}
TW_DEVICE float sin_approx(float x) {
  return detail::rounded(x, [](double x) { return std::sin(x); });
}
TW_DEVICE float cos_approx(float x) {
  return detail::rounded(x, [](double x) { return std::cos(x); });
}
TW_DEVICE float tanh_approx(float x) {
  return static_cast<float>(std::tanh(static_cast<double>(x)));
}
TW_DEVICE float divide_approx(float x, float y) {
  float const a = detail::flushed(x), b = detail::flushed(y);
  if (std::fabs(b) > 0x1p126F && !std::isinf(b) && b == b)
    return std::isinf(a) || a != a
               ? std::numeric_limits<float>::quiet_NaN()
               : std::copysign(0.0F, std::signbit(a) != std::signbit(b) ? -1.0F : 1.0F);
  return detail::flushed(static_cast<float>(static_cast<double>(a) / static_cast<double>(b)));
}
TW_DEVICE float multiply_add(float a, float b, float c) { return std::fma(a, b, c); }

}  // namespace tw
