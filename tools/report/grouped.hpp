// SPDX-License-Identifier: Apache-2.0
// grouped.hpp  Whole numbers with a comma between thousands: 232,448.
#pragma once

#include <cstdint>
#include <string>

namespace tw {

inline std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  std::size_t const sign = n < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) digits.insert(at -= 3, ",");
  return digits;
}

}  // namespace tw
