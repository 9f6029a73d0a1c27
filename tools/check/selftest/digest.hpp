// SPDX-License-Identifier: Apache-2.0
// digest.hpp  FNV-1a, 64 bits: results of two machines are the same if their digests are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tw::selftest {

inline std::uint64_t digest_of(std::span<std::byte const> bytes) {
  std::uint64_t h = 0xCBF29CE484222325ULL;
  for (std::byte const b : bytes) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001B3ULL;
  return h;
}

}  // namespace tw::selftest
