// SPDX-License-Identifier: Apache-2.0
// gpu_condition.hpp  Which condition keeps the kernels off this machine's GPU, if any.
#pragma once

#include <optional>
#include <string>

#include "tilewright/base/check.hpp"

namespace tw {

/// The CUDA runtime's report on the machine.
struct gpu_facts {
  int driver_version = 0;       // 13000 for CUDA 13.0; 0: no driver
  bool driver_too_old = false;  // for the runtime this library is built with
  int devices = 0;
  std::string error;           // of the device count or properties; empty: none
  std::string name;            // of the current device
  int compute_capability = 0;  // 90 for 9.0
};

/// Nothing if the kernels can run, else TW0502 (driver), TW0503 (device) or TW0504 (compute
/// capability).
std::optional<rejection> why_unusable(gpu_facts const& f);

/// "13.0" for 13000.
std::string version_text(int driver_version);

}  // namespace tw
