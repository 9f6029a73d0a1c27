// SPDX-License-Identifier: Apache-2.0
// device.hpp  The GPU under measurement: its facts, its power meter, a stopwatch on it.
#pragma once

#include <memory>

#include "tools/measure/device_facts.hpp"
#include "tools/measure/gpu/stopwatch.hpp"
#include "tools/measure/nvml.hpp"

namespace tw::bench {

class measured_device {
 public:
  measured_device();

  device_facts const& facts() const { return facts_; }
  stopwatch& watch() { return *watch_; }

 private:
  std::unique_ptr<nvml> meter_;
  device_facts facts_;
  std::unique_ptr<stopwatch> watch_;
};

}  // namespace tw::bench
