// SPDX-License-Identifier: Apache-2.0
// group_sizes.hpp  Sizes of the groups of a benchmark: patterns of a mixture of experts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace tw::bench {

/// How rows are spread over groups:
///   equal       as equally as possible
///   uniform     each row chooses a group at random, all alike: tokens of a balanced router
///   zipf        as uniform, but group i is chosen 1/(1 + i) times as often, in a shuffled order
///   one-hot     one group in the middle has all rows
///   half-empty  every second group is empty, and the rest are equal
enum class group_pattern : std::uint8_t { equal, uniform, zipf, one_hot, half_empty };
inline constexpr char const* group_pattern_names[] = {"equal", "uniform", "zipf", "one-hot",
                                                      "half-empty"};

inline std::optional<group_pattern> find_group_pattern(std::string const& word) {
  for (int i = 0; i < 5; ++i)
    if (word == group_pattern_names[i]) return static_cast<group_pattern>(i);
  return std::nullopt;
}

/// Sizes of `count` groups that divide `total`, all multiples of `step`, which divides `total`: a
/// function of these numbers and the seed.
inline std::vector<std::int64_t> group_sizes(group_pattern pattern, std::int64_t total,
                                             std::int64_t count, std::int64_t step,
                                             std::uint64_t seed) {
  auto const groups = static_cast<std::size_t>(count);
  std::vector<std::int64_t> sizes(groups);
  std::int64_t const units = total / step;
  auto const spread = [&](std::size_t stride) {  // over every stride-th group
    std::int64_t const sharers =
        (count + static_cast<std::int64_t>(stride) - 1) / static_cast<std::int64_t>(stride);
    for (std::int64_t i = 0; i < sharers; ++i)
      sizes[static_cast<std::size_t>(i) * stride] =
          (units * (i + 1) / sharers - units * i / sharers) * step;
  };
  if (pattern == group_pattern::one_hot) {
    sizes[groups / 2] = total;
  } else if (pattern == group_pattern::equal || pattern == group_pattern::half_empty) {
    spread(pattern == group_pattern::equal ? 1 : 2);
  } else {
    std::mt19937_64 random(seed);
    std::vector<double> ends(groups);  // of each group's part of all choices
    for (std::size_t i = 0; i < groups; ++i)
      ends[i] = pattern == group_pattern::zipf ? 1.0 / static_cast<double>(i + 1) : 1.0;
    for (std::size_t i = groups; i > 1; --i) std::swap(ends[i - 1], ends[random() % i]);
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    // At most 2^20 choices, each of several units if there are more.
    std::int64_t const chunk = (units + (1 << 20) - 1) >> 20;
    for (std::int64_t left = units; left > 0; left -= chunk) {
      double const at = static_cast<double>(random() >> 11) * 0x1p-53 * ends.back();
      auto const group = std::upper_bound(ends.begin(), ends.end() - 1, at) - ends.begin();
      sizes[static_cast<std::size_t>(group)] += std::min(left, chunk) * step;
    }
  }
  return sizes;
}

}  // namespace tw::bench
