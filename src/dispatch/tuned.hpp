// SPDX-License-Identifier: Apache-2.0
// tuned.hpp  Results of `tilewright tune` on this device, for the planner.
#pragma once

#include <optional>
#include <string>

#include "dispatch/tuning_store.hpp"
#include "tilewright/device/device.hpp"

namespace tw {

struct tuned_answer {
  std::optional<measured_plan> fastest;  // for this problem on this device
  std::string trouble;  // the file is there and cannot be used: a hint for every plan
};

/// The file is read once for each device, at the first call on it; forget_tuning() reads it again
/// at the next.
tuned_answer find_tuned(gemm_problem const& p, device const& dev);
void forget_tuning();

/// For tests: plan as if on this device; nothing: on the one that is present.
void pretend_identity(std::optional<tuning_identity> const& id);

}  // namespace tw
