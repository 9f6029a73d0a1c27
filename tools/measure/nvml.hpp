// SPDX-License-Identifier: Apache-2.0
// nvml.hpp  Clock, power, energy and temperature of a GPU, from the driver's management library.
#pragma once

#include <memory>
#include <string>

#include "tools/measure/power.hpp"

namespace tw::bench {

/// NVML, loaded at run time. Figures that the GPU does not give are NaN.
class nvml {
 public:
  /// The GPU with this PCI address ("0000:3b:00.0"); nullptr without the library or the GPU.
  static std::unique_ptr<nvml> open(std::string const& pci_bus_id);

  virtual ~nvml() = default;
  virtual power_reading read() const = 0;  // time_s: seconds of the steady clock
  virtual std::string driver() const = 0;  // "580.159.04"
  virtual double power_limit_w() const = 0;
  virtual double max_sm_mhz() const = 0;
};

}  // namespace tw::bench
