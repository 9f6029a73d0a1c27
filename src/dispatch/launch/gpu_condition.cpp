// SPDX-License-Identifier: Apache-2.0
// gpu_condition.cpp  The conditions in the order in which they are checked.
#include "dispatch/launch/gpu_condition.hpp"

#include <fmt/format.h>

namespace tw {

std::string version_text(int driver_version) {
  return fmt::format("{}.{}", driver_version / 1000, driver_version % 1000 / 10);
}

std::optional<rejection> why_unusable(gpu_facts const& f) {
  if (f.driver_version == 0)
    return rejection{"TW0502", "GPU driver", "none is loaded", "an NVIDIA driver for CUDA 13",
                     "install the driver"};
  if (f.driver_too_old)
    return rejection{"TW0502", "GPU driver", "one for CUDA " + version_text(f.driver_version),
                     "a driver for CUDA 13", "update the driver"};
  if (!f.error.empty() || f.devices == 0)
    return rejection{"TW0503", "GPU", f.error.empty() ? "no device" : f.error,
                     "a Hopper GPU or an A100", "check CUDA_VISIBLE_DEVICES"};
  bool const blackwell = f.compute_capability == 100 || f.compute_capability == 103;
  if (f.compute_capability != 90 && f.compute_capability != 80 && !blackwell)
    return rejection{"TW0504", "compute capability of " + f.name,
                     fmt::format("{}.{}", f.compute_capability / 10, f.compute_capability % 10),
                     "9.0 (Hopper), 10.0 or 10.3 (Blackwell), or 8.0 (A100)",
                     "choose another device with CUDA_VISIBLE_DEVICES"};
  return std::nullopt;
}

}  // namespace tw
