// SPDX-License-Identifier: Apache-2.0
// divisor.hpp  Division by a number that is known before a kernel starts: a multiplication and a
//              shift instead of the 25 instructions, most of them waiting, of a division.
#pragma once

#include <bit>
#include <cstdint>

#include "tilewright/base/hd.hpp"

namespace tw {

/// x / d for 0 <= x < 2^31 and 1 <= d < 2^31. With 2^(shift-1) < d <= 2^shift, 2^32 + multiplier is
/// the next integer above 2^(32 + shift) / d (Granlund and Montgomery, "Division by Invariant
/// Integers using Multiplication", 1994).
class divisor {
 public:
  constexpr divisor() = default;
  constexpr explicit divisor(int d)
      : multiplier_(0),
        shift_(std::bit_width(static_cast<std::uint32_t>(d) - 1)) {
    std::uint64_t const beyond = (std::uint64_t{1} << shift_) - static_cast<std::uint32_t>(d);
    multiplier_ = static_cast<std::uint32_t>((beyond << 32) / static_cast<std::uint32_t>(d) + 1);
  }

  TW_HD constexpr int operator()(int x) const {
    auto const n = static_cast<std::uint32_t>(x);
    auto const high = static_cast<std::uint32_t>(std::uint64_t{n} * multiplier_ >> 32);
    return static_cast<int>((high + n) >> shift_);
  }

  bool operator==(divisor const&) const = default;

 private:
  std::uint32_t multiplier_ = 1;  // of 1
  std::int32_t shift_ = 0;
};

}  // namespace tw
