// SPDX-License-Identifier: Apache-2.0
// convert_probe.hpp  How cvt rounds to elements of 4 and 6 bits and to powers of two, and back.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tools/check/selftest/probe_operand.hpp"

namespace tw::selftest {

/// Word 2 i: two numbers packed; word 2 i + 1: the pair of wider numbers that they are.
template <elem E>
struct convert_probe {
  using params = probe_params;
  static constexpr elem type = E;
  static constexpr int pairs = probe_words / 2;
  static constexpr int threads = 128, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    for (int i = thread_id(); i < pairs; i += threads) {
      float const lo = input(2 * i), hi = input(2 * i + 1);
      std::uint32_t two;
      if constexpr (is_exponent(E))
        two = pack_ue8m0(lo, hi);
      else
        two = pack_narrow<E>(lo, hi);
      p.out[2 * i] = two;
      if constexpr (is_exponent(E))
        p.out[2 * i + 1] = unpack_ue8m0(two).bits;
      else
        p.out[2 * i + 1] = unpack_narrow<E>(two).bits;
    }
  }

  /// Numbers about the range of the type, half of them with few bits: neighbours and midpoints. The
  /// first are NaN, infinities and zeros.
  TW_HD static constexpr float input(int i) {
    constexpr std::uint32_t special[] = {0x7FFFFFFF, 0x7F800000, 0xFF800000, 0x80000000, 0};
    if (i < 5) return __builtin_bit_cast(float, special[i]);
    auto const hash = static_cast<std::uint32_t>(i) * 0x9E3779B1U;
    std::uint32_t const exponent =
        is_exponent(E) ? 1 + hash % 253 : 121 + static_cast<std::uint32_t>(i / 2) % 12;
    std::uint32_t const fraction = hash >> 9 & (i % 2 == 0 ? 0x7FFFFFU : 0x7C0000U);
    return __builtin_bit_cast(float, (hash & 0x80000000U) | exponent << 23 | fraction);
  }
};

}  // namespace tw::selftest
