// SPDX-License-Identifier: Apache-2.0
// warp.hpp  Kernels of what a warp does in registers, and of loads of 16 bytes.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::test {

/// Each thread loads the 16 bytes at its index, with either instruction.
struct load_16_kernel {
  struct params {
    std::uint32_t const* from;
    int const* which;    // per thread, in units of 16 bytes
    std::uint32_t* out;  // 8 words per thread
  };
  static constexpr int threads = 64, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    int const t = cta_id() * threads + thread_id();
    b32<4> const plain = load_16(p.from + 4 * p.which[t]);
    b32<4> const once = load_16_once(p.from + 4 * p.which[t]);
    for (int i = 0; i < 4; ++i) p.out[8 * t + i] = plain.r[i], p.out[8 * t + 4 + i] = once.r[i];
  }
};

/// D (16, 8) = A (16, 32) * B (32, 8), in steps of K (16 or 8), with float32 sums or f16; A
/// row-major, B column-major, D row-major.
template <elem E, int K, bool F16Sums>
struct mma_kernel {
  struct params {
    std::uint16_t const *a, *b;
    float* d;
  };
  static constexpr int threads = 32, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    int const row = lane_id() / 4, pair = 2 * (lane_id() % 4);
    float d[4] = {};
    b32<2> packed = {};
    for (int k = 0; k < 32; k += K) {
      auto const two = [&](std::uint16_t const* x, int at, int first) {
        std::uint16_t const* const from = x + 32 * at + k + first;
        return from[0] | static_cast<std::uint32_t>(from[1]) << 16;
      };
      b32<K / 4> a;
      b32<K / 8> b;
      for (int i = 0; i < K / 8; ++i) {
        a.r[2 * i] = two(p.a, row, pair + 8 * i);
        a.r[2 * i + 1] = two(p.a, row + 8, pair + 8 * i);
        b.r[i] = two(p.b, row, pair + 8 * i);
      }
      if constexpr (F16Sums)
        mma_sync<E>(packed, a, b);
      else
        mma_sync<E>(d, a, b);
    }
    if constexpr (F16Sums)
      for (int i = 0; i < 4; ++i)
        d[i] = to_float<E>(static_cast<std::uint16_t>(packed.r[i / 2] >> 16 * (i % 2)));
    for (int i = 0; i < 4; ++i) p.d[8 * (row + i / 2 * 8) + pair + i % 2] = d[i];
  }
};

}  // namespace tw::test
