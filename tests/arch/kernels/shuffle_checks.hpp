// SPDX-License-Identifier: Apache-2.0
// shuffle_checks.hpp  Shuffles, votes and reductions against the pseudocode of the PTX ISA, lane by
//                     lane.
#pragma once

#include <bit>

#include "tests/arch/kernels/machine.hpp"
#include "tests/arch/kernels/shuffles.hpp"
#include "tilewright/base/elem.hpp"

namespace tw::test {

/// The source lane of a shuffle: PTX ISA, "shfl.sync", with the c operand that CUDA gives.
inline int source_lane(int mode, int lane, int b, int width) {
  int const segment = 32 - width, clamp = mode == 1 ? 0 : 31;  // mode 1: up
  int const max_lane = (lane & segment) | (clamp & ~segment), min_lane = lane & segment;
  int j = 0;
  bool inside = false;
  switch (mode) {
    case 0: j = min_lane | (b & ~segment), inside = j <= max_lane; break;
    case 1: j = lane - b, inside = j >= max_lane; break;
    case 2: j = lane + b, inside = j <= max_lane; break;
    default: j = lane ^ b, inside = j <= max_lane;
  }
  return inside ? j : lane;
}

template <class T>
struct pair_of {
  T x, y;
};

/// Every width of a full warp; and half a warp, where width 16 keeps all sources in the mask.
template <class T, class M>
std::string check_shuffles(M& m) {
  using K = shuffle_kernel<T>;
  failures f;
  for (auto [width, mask] : {std::pair{32, all_lanes},
                             {16, all_lanes},
                             {8, all_lanes},
                             {4, all_lanes},
                             {2, all_lanes},
                             {1, all_lanes},
                             {16, 0x0000FFFFU}}) {
    std::vector<std::uint8_t> const bytes = random_bytes(K::threads * sizeof(T), 11);
    std::vector<T> in(K::threads), zeros(128 * K::threads);
    std::memcpy(in.data(), bytes.data(), bytes.size());
    T* const out = upload(m, zeros);
    run<K>(m, 1, {upload(m, in), out, width, mask});
    std::vector<T> const got = download(m, out, zeros.size());
    std::string wrong;
    for (int i = 0; i < 128 * K::threads && wrong.empty(); ++i) {
      int const t = i % K::threads, lane = t % 32, mode = i / K::threads / 32;
      if ((mask >> lane & 1U) == 0) continue;
      int const source = source_lane(mode, lane, i / K::threads % 32, width);
      if (std::memcmp(&got[i], &in[t - lane + source], sizeof(T)) != 0)
        wrong = text("mode ", mode, " by ", i / K::threads % 32, ": thread ", t,
                     " lacks the value of lane ", source);
    }
    f.add(text("width ", width, ", mask ", mask), wrong);
  }
  return f.result();
}

template <class M>
std::string check_votes(M& m) {
  using K = vote_kernel;
  failures f;
  std::mt19937 random(5);
  for (std::uint32_t const mask : {all_lanes, 0x0000FFFFU, 0x55555555U, 0x80000001U, 0x00F0FF07U}) {
    std::vector<int> in(K::threads);
    for (int& x : in) x = static_cast<int>(random() % 9) - 4;
    std::vector<std::uint32_t> want(K::threads * K::words);
    std::uint32_t* const out = upload(m, want);
    run<K>(m, 1, {upload(m, in), out, mask});
    for (int t = 0; t < K::threads; ++t) {
      std::uint32_t const mine = (mask >> t % 32 & 1U) != 0 ? mask : ~mask;
      std::uint32_t positive = 0, same = 0, sum = 0, all = ~0U, some = 0, odd = 0;
      bool three = false, high = true;
      int low = 1 << 30, most = -low;
      std::uint32_t ulow = ~0U, umost = 0;
      for (int lane = 0; lane < 32; ++lane) {
        if ((mine >> lane & 1U) == 0) continue;
        int const x = in[t / 32 * 32 + lane];
        auto const u = static_cast<std::uint32_t>(x);
        if (x > 0) positive |= 1U << lane;
        if (x == in[t]) same |= 1U << lane;
        three = three || x == 3;
        high = high && x >= -3;
        sum += u, all &= u, some |= u, odd ^= u;
        low = std::min(low, x), most = std::max(most, x);
        ulow = std::min(ulow, u), umost = std::max(umost, u);
      }
      std::uint32_t const right[K::words] = {positive, three,
                                             high,     same,
                                             same,     sum,
                                             sum,      static_cast<std::uint32_t>(low),
                                             ulow,     static_cast<std::uint32_t>(most),
                                             umost,    all,
                                             some,     odd};
      std::copy(std::begin(right), std::end(right), want.begin() + t * K::words);
    }
    f.add(text("mask ", mask), differences(download(m, out, want.size()), want, [](std::size_t i) {
            return text("operation ", i % K::words, " of thread ", i / K::words);
          }));
  }
  return f.result();
}

template <class M>
std::vector<check<M>> shuffle_checks() {
  return {{"shuffles of float", check_shuffles<float, M>},
          {"shuffles of int", check_shuffles<int, M>},
          {"shuffles of double", check_shuffles<double, M>},
          {"shuffles of int64", check_shuffles<std::int64_t, M>},
          {"shuffles of bf16", check_shuffles<bf16, M>},
          {"shuffles of a pair of f16", check_shuffles<pair_of<f16>, M>},
          {"shuffles of a pair of float", check_shuffles<pair_of<float>, M>},
          {"shuffles of bytes", check_shuffles<std::uint8_t, M>},
          {"votes, match and redux", check_votes<M>}};
}

}  // namespace tw::test
