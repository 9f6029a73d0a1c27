// SPDX-License-Identifier: Apache-2.0
// power.hpp  Mean power of a window from readings of an energy counter that advances in steps.
//
// The counter of an H200 advances about every 0.1 s, so the difference of two arbitrary readings is
// off by up to 10 % over a second. Between two steps it is exact: only those readings count.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/measure/protocol.hpp"

namespace tw::bench {

/// One look at the GPU.
struct power_reading {
  double time_s = 0;
  double energy_j = not_measured;
  double power_w = not_measured;
  double sm_mhz = not_measured;
  double temperature_c = not_measured;
  std::uint64_t throttle_reasons = 0;
};

/// Energy over time between the first and the last step of the counter; NaN when they are less than
/// `shortest_s` apart. Readings in order of time.
inline double counter_power_w(std::vector<power_reading> const& readings, double shortest_s = 0.3) {
  power_reading const *first = nullptr, *last = nullptr;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    if (!(readings[i].energy_j > readings[i - 1].energy_j)) continue;
    if (first == nullptr) first = &readings[i];
    last = &readings[i];
  }
  if (first == nullptr || last->time_s - first->time_s < shortest_s) return not_measured;
  return (last->energy_j - first->energy_j) / (last->time_s - first->time_s);
}

/// Enters what the readings of its window say into a sample.
inline void add_readings(sample& s, std::vector<power_reading> const& readings) {
  s.power_w = counter_power_w(readings);
  double power_sum = 0, clock_sum = 0;
  for (auto const& r : readings) {
    power_sum += r.power_w;
    clock_sum += r.sm_mhz;
    s.temperature_c = s.temperature_c > r.temperature_c ? s.temperature_c : r.temperature_c;
    s.throttle_reasons |= r.throttle_reasons;
  }
  if (readings.empty()) return;
  s.power_gauge_w = power_sum / static_cast<double>(readings.size());
  s.nvml_sm_mhz = clock_sum / static_cast<double>(readings.size());
}

}  // namespace tw::bench
