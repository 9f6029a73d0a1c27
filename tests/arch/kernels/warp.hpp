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

/// D (16, 8) = A (16, 32) * B (32, 8), in two steps; A row-major, B column-major, D row-major.
template <elem E>
struct mma_kernel {
  struct params {
    std::uint16_t const *a, *b;
    float* d;
  };
  static constexpr int threads = 32, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    int const row = lane_id() / 4, pair = 2 * (lane_id() % 4);
    float d[4] = {};
    for (int k = 0; k < 32; k += 16) {
      auto const two = [&](std::uint16_t const* x, int at, int first) {
        std::uint16_t const* const from = x + 32 * at + k + first;
        return from[0] | static_cast<std::uint32_t>(from[1]) << 16;
      };
      mma_sync<E>(d,
                  b32<4>{{two(p.a, row, pair), two(p.a, row + 8, pair), two(p.a, row, pair + 8),
                          two(p.a, row + 8, pair + 8)}},
                  b32<2>{{two(p.b, row, pair), two(p.b, row, pair + 8)}});
    }
    for (int i = 0; i < 4; ++i) p.d[8 * (row + i / 2 * 8) + pair + i % 2] = d[i];
  }
};

}  // namespace tw::test
