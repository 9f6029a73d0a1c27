// SPDX-License-Identifier: Apache-2.0
// samples_json.hpp  A list of samples as JSON: the figures people compare, then every sample.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "tools/measure/protocol.hpp"
#include "tools/measure/work.hpp"

namespace tw::bench {

inline nlohmann::json spread_json(std::vector<double> const& values) {
  return {{"median", median(values)}, {"min", smallest(values)}, {"max", largest(values)}};
}

/// NaN becomes null.
inline nlohmann::json samples_json(std::vector<sample> const& samples, work const& w) {
  nlohmann::json list = nlohmann::json::array();
  for (auto const& s : samples) {
    list.push_back({{"us", s.us},
                    {"launches", s.launches},
                    {"sm_mhz", s.sm_mhz},
                    {"power_w", s.power_w},
                    {"power_gauge_w", s.power_gauge_w},
                    {"nvml_sm_mhz", s.nvml_sm_mhz},
                    {"temperature_c", s.temperature_c},
                    {"throttle_reasons", s.throttle_reasons}});
  }
  std::vector<double> const us = figures(samples, &sample::us);
  double const sm_mhz = median(figures(samples, &sample::sm_mhz));
  double const power_w = median(figures(samples, &sample::power_w));
  nlohmann::json out = {{"us", spread_json(us)}, {"sm_mhz", sm_mhz}, {"power_w", power_w}};
  if (w.flop > 0) {
    out["tflops"] = tflops(w, median(us));
    out["utilisation"] = utilisation(w, median(us), sm_mhz);
    out["joule_per_tflop"] = joule_per_tflop(w, median(us), power_w);
  }
  if (w.bytes > 0) out["gb_per_s"] = gb_per_s(w, median(us));
  out["samples"] = std::move(list);
  return out;
}

}  // namespace tw::bench
