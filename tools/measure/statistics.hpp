// SPDX-License-Identifier: Apache-2.0
// statistics.hpp  Statistics of a list of samples. Of no samples every figure is NaN.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tw::bench {

/// Stands for a figure that was not measured; printed as "-", null in JSON.
inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// The middle sample; the mean of the two middle ones where the count is even.
inline double median(std::vector<double> samples) {
  if (samples.empty()) return not_measured;
  auto const middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(samples.begin(), middle)) / 2;
}

inline double smallest(std::vector<double> const& samples) {
  return samples.empty() ? not_measured : *std::min_element(samples.begin(), samples.end());
}

inline double largest(std::vector<double> const& samples) {
  return samples.empty() ? not_measured : *std::max_element(samples.begin(), samples.end());
}

/// exp of the mean logarithm; samples are positive.
inline double geometric_mean(std::vector<double> const& samples) {
  if (samples.empty()) return not_measured;
  double sum = 0;
  for (double const s : samples) sum += std::log(s);
  return std::exp(sum / static_cast<double>(samples.size()));
}

}  // namespace tw::bench
