// SPDX-License-Identifier: Apache-2.0
// crc32.hpp  CRC-32 as zlib computes it (polynomial 0xEDB88320, reflected), bit by bit.
#pragma once

#include <cstdint>
#include <string_view>

namespace tw {

inline std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t c = 0xFFFFFFFFU;
  for (char const b : bytes) {
    c ^= static_cast<unsigned char>(b);
    for (int k = 0; k < 8; ++k) c = (c >> 1U) ^ (0xEDB88320U & (0U - (c & 1U)));
  }
  return ~c;
}

}  // namespace tw
