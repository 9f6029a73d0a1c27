// SPDX-License-Identifier: Apache-2.0
// math.hpp  Approximations by the special function unit, here rounded to nearest. Subnormal
//           arguments and results are zero.
#pragma once

#include <math.h>

#include "tilewright/base/hd.hpp"

namespace tw {

namespace detail {
inline float flushed(float x) { return fabsf(x) < 0x1p-126F ? copysignf(0.0F, x) : x; }
}  // namespace detail

TW_DEVICE float exp2_approx(float x) { return detail::flushed(exp2f(detail::flushed(x))); }

TW_DEVICE float reciprocal_approx(float x) { return detail::flushed(1.0F / detail::flushed(x)); }

}  // namespace tw
