// SPDX-License-Identifier: Apache-2.0
// device_facts.hpp  The GPU and the software under a measurement.
#pragma once

#include <string>

#include "tools/measure/statistics.hpp"

namespace tw::bench {

/// Empty or NaN where a fact is not available.
struct device_facts {
  std::string card, driver, cuda_driver, cuda_runtime, cublaslt, cublaslt_path;
  int sms = 0;
  double memory_gb = 0, power_limit_w = not_measured, max_sm_mhz = not_measured;
};

}  // namespace tw::bench
