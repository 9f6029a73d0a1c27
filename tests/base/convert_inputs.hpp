// SPDX-License-Identifier: Apache-2.0
// convert_inputs.hpp  The floats that conversions are tried on, and a digest of what comes out.
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>

namespace tw_test {

/// FNV-1a over 32-bit words (offset basis and prime of the 64-bit variant).
class fnv {
 public:
  void add(std::uint32_t word) {
    for (int i = 0; i < 4; ++i) state_ = (state_ ^ (word >> (8 * i) & 0xFFU)) * 0x100000001B3ULL;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325ULL;
};

/// Every upper 24 bits; and every upper 20 bits with the lower 12 at 0, 1 and all ones, which holds
/// the midpoints of f16, bf16 and fp8 and the float just below and above each (a midpoint has zeros
/// below bit 12). About 20 million floats, all classes among them.
template <class F>
void for_chosen_floats(F const& f) {
  for (std::uint32_t top = 0; top < 1U << 24; ++top) f(std::bit_cast<float>(top << 8));
  for (std::uint32_t top = 0; top < 1U << 20; ++top) {
    for (std::uint32_t low : {0x000U, 0x001U, 0xFFFU}) f(std::bit_cast<float>(top << 12 | low));
  }
}

/// All 2^32 floats, which takes minutes. Enabled by TW_LONG_TESTS=1.
template <class F>
void for_all_floats(F const& f) {
  std::uint32_t bits = 0;
  do f(std::bit_cast<float>(bits));
  while (++bits != 0);
}

inline bool long_tests() {
  char const* text = std::getenv("TW_LONG_TESTS");
  return text != nullptr && text[0] == '1';
}

}  // namespace tw_test
