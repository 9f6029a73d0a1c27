// SPDX-License-Identifier: Apache-2.0
// shuffles.hpp  Kernels of shuffles, votes and reductions among the lanes of a warp.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::test {

/// All four shuffles with distances (lanes, masks) of 0 to 31, by the lanes of a mask alone.
template <class T>
struct shuffle_kernel {
  struct params {
    T const* in;
    T* out;  // [mode][distance][thread]
    int width;
    std::uint32_t mask;
  };
  static constexpr int threads = 64, cluster = 1, smem_bytes = 0;

  TW_DEVICE static void run(params const& p) {
    int const t = thread_id();
    if ((p.mask >> t % 32 & 1U) == 0) return;
    T const x = p.in[t];
    for (int i = 0; i < 32; ++i) {
      p.out[i * threads + t] = shuffle(x, i, p.width, p.mask);
      p.out[(32 + i) * threads + t] = shuffle_up(x, i, p.width, p.mask);
      p.out[(64 + i) * threads + t] = shuffle_down(x, i, p.width, p.mask);
      p.out[(96 + i) * threads + t] = shuffle_xor(x, i, p.width, p.mask);
    }
  }
};

/// Every vote and reduction of the lanes of two masks, which take turns in either half of a branch.
struct vote_kernel {
  struct params {
    int const* in;
    std::uint32_t* out;  // `words` per thread
    std::uint32_t mask;  // the other lanes are the second group
  };
  static constexpr int threads = 64, cluster = 1, smem_bytes = 0, words = 14;

  TW_DEVICE static void vote(params const& p, std::uint32_t mask) {
    int const t = thread_id();
    int const x = p.in[t];
    auto const u = static_cast<std::uint32_t>(x);
    std::uint32_t const result[words] = {ballot(x > 0, mask),
                                         vote_any(x == 3, mask),
                                         vote_all(x >= -3, mask),
                                         match_any(x, mask),
                                         match_any(static_cast<double>(x), mask),
                                         static_cast<std::uint32_t>(redux_add(x, mask)),
                                         redux_add(u, mask),
                                         static_cast<std::uint32_t>(redux_min(x, mask)),
                                         redux_min(u, mask),
                                         static_cast<std::uint32_t>(redux_max(x, mask)),
                                         redux_max(u, mask),
                                         redux_and(u, mask),
                                         redux_or(u, mask),
                                         redux_xor(u, mask)};
    for (int i = 0; i < words; ++i) p.out[words * t + i] = result[i];
  }
  TW_DEVICE static void run(params const& p) {
    if ((p.mask >> lane_id() & 1U) != 0)
      vote(p, p.mask);
    else
      vote(p, ~p.mask);
  }
};

}  // namespace tw::test
