// SPDX-License-Identifier: Apache-2.0
// sampled_lines.hpp  Which rows and columns of a result are compared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tilewright/problem/gemm.hpp"

namespace tw::bench {

/// All of D where that takes at most 2^33 multiply-adds.
inline bool is_compared_whole(gemm_problem const& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) <= 8.6e9;
}

inline constexpr int line_count = 64;  // sampled rows, and sampled columns

/// `some` of 0..count-1, evenly spread; the first and the last are among them.
inline std::vector<int> spread_lines(std::int64_t count, int some = line_count) {
  std::vector<int> lines;
  for (std::int64_t i = 0; i < some; ++i)
    lines.push_back(static_cast<int>(i * (count - 1) / (some - 1)));
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

}  // namespace tw::bench
