// SPDX-License-Identifier: Apache-2.0
// embedded.hpp  The descriptions of devices/*.json as gen/devices.py embeds them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/device/device.hpp"

namespace tw {

struct embedded_device {
  device facts{};  // without calibration
  std::vector<std::string> cuda_names{};
  std::optional<tw::calibration> calibration{};  // measured on this device; or
  std::string like{};                            // the id of the one whose calibration is scaled
};

/// Those with a measured calibration first.
std::vector<embedded_device> embedded_devices();

}  // namespace tw
