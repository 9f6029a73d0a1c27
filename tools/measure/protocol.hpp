// SPDX-License-Identifier: Apache-2.0
// protocol.hpp  How contenders are timed against each other: bursts and sustained windows.
//
// One process; in every round each contender runs once, and the one that starts rotates. A burst is
// short work after a pause, at high clocks; a sustained window is continuous work, at the clock
// that the power limit allows. Independent of a GPU: the device side implements `contender`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/measure/statistics.hpp"

namespace tw::bench {

/// One timed stretch of back-to-back launches. What could not be measured is NaN.
struct sample {
  double us = not_measured;             // per launch
  double sm_mhz = not_measured;         // mean SM clock, from cycle counters around the stretch
  double power_w = not_measured;        // from the energy counter
  double power_gauge_w = not_measured;  // mean of the power gauge
  double nvml_sm_mhz = not_measured;    // mean of the clock gauge
  double temperature_c = not_measured;  // largest seen
  std::uint64_t throttle_reasons = 0;   // all seen, as NVML's bits
  int launches = 0;
};

/// A program prepared for one problem: plan, buffers and launches exist, only time is missing.
class contender {
 public:
  virtual ~contender() = default;
  /// One batch (about 15 ms of launches), started on an idle device.
  virtual sample burst() = 0;
  /// Batches without a gap: `warm_up_s` untimed, then at least `timed_s` timed.
  virtual sample sustained(double warm_up_s, double timed_s) = 0;
};

struct protocol_options {
  int burst_rounds = 5;
  double burst_pause_s = 0.015;
  int windows = 2;
  double warm_up_s = 0.4;
  double timed_s = 1.25;
};

/// A look, not a result.
inline constexpr protocol_options quick_protocol = {
    .burst_rounds = 3, .burst_pause_s = 0.015, .windows = 1, .warm_up_s = 0.2, .timed_s = 0.6};

/// samples[i]: those of contender i, in the order of rounds.
using samples_by_contender = std::vector<std::vector<sample>>;

/// `burst_rounds` bursts of each contender after one discarded round. `pause` waits that many
/// seconds with the device idle.
inline samples_by_contender measure_bursts(std::vector<contender*> const& contenders,
                                           protocol_options const& o,
                                           std::function<void(double)> const& pause) {
  samples_by_contender samples(contenders.size());
  for (int round = -1; round < o.burst_rounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      std::size_t const who = (i + static_cast<std::size_t>(round + 1)) % contenders.size();
      pause(o.burst_pause_s);
      sample const s = contenders[who]->burst();
      if (round >= 0) samples[who].push_back(s);
    }
  }
  return samples;
}

/// `windows` sustained windows of each contender.
inline samples_by_contender measure_sustained(std::vector<contender*> const& contenders,
                                              protocol_options const& o) {
  samples_by_contender samples(contenders.size());
  for (int window = 0; window < o.windows; ++window) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      std::size_t const who = (i + static_cast<std::size_t>(window)) % contenders.size();
      samples[who].push_back(contenders[who]->sustained(o.warm_up_s, o.timed_s));
    }
  }
  return samples;
}

/// One figure of every sample that has it.
inline std::vector<double> figures(std::vector<sample> const& samples, double sample::*figure) {
  std::vector<double> values;
  for (auto const& s : samples)
    if (s.*figure == s.*figure) values.push_back(s.*figure);  // drops NaN
  return values;
}

inline double median_us(std::vector<sample> const& samples) {
  return median(figures(samples, &sample::us));
}

}  // namespace tw::bench
