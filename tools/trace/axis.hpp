// SPDX-License-Identifier: Apache-2.0
// axis.hpp  Numbers on an axis of time.
#pragma once

#include <cstdint>

namespace tw {

/// The longest step of 1, 2 or 5 times a power of ten that is at most `about`; at least 1.
constexpr std::int64_t axis_step(double about) {
  std::int64_t step = 1;
  while (static_cast<double>(10 * step) <= about) step *= 10;
  for (std::int64_t const m : {5, 2})
    if (static_cast<double>(m * step) <= about) return m * step;
  return step;
}

}  // namespace tw
