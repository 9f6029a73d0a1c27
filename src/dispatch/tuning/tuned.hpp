// SPDX-License-Identifier: Apache-2.0
// tuned.hpp  Results of `tilewright tune` on this device, for the planner.
#pragma once

#include <optional>
#include <string>

#include "dispatch/tuning/tuning_store.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/family/plan.hpp"

namespace tw {

struct tuned_answer {
  std::optional<measured_plan> fastest;  // for this problem on this device
  /// Not empty: `fastest` is of these groups, "M = 8192, 128 rows a group", and its kernel and
  /// `swapped` alone count.
  std::string of_groups;
  std::string trouble;  // the file is there and cannot be used: a hint for every plan
};

/// A plan with its time, as the file has it.
inline measured_plan record_of(gemm_plan const& p, double us) {
  return {shown_kernel(p), p.swapped, p.schedule.split_k_tiles, p.schedule.split_k_clusters, us,
          p.predicted_us};
}

/// A problem of groups that was not tuned takes the kernel of a tuned problem that differs from it
/// in the total of the groups alone (key_without_total()): of the one with the nearest size of a
/// group, if the larger size is at most the square root of 2 times the smaller one. Of several with
/// this size it is the one with the nearest total.
/// The file is read once for each device, at the first call on it; forget_tuning() reads it again
/// at the next.
tuned_answer find_tuned(gemm_problem const& p, device const& dev);
void forget_tuning();

/// For tests: plan as if on this device; nothing: on the one that is present.
void pretend_identity(std::optional<tuning_identity> const& id);

}  // namespace tw
