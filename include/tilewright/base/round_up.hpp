// SPDX-License-Identifier: Apache-2.0
// round_up.hpp  Quotients and multiples that are rounded up, of integers that are not negative.
#pragma once

#include <cstdint>

#include "tilewright/base/hd.hpp"

namespace tw {

/// a / b, rounded up. a >= 0, b > 0.
TW_HD constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The smallest multiple of b that is at least a. a >= 0, b > 0.
TW_HD constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return divide_up(a, b) * b;
}

}  // namespace tw
