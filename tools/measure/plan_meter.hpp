// SPDX-License-Identifier: Apache-2.0
// plan_meter.hpp  Times plans on a GPU. Built without CUDA, opening a meter is refused (TW05xx).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dispatch/tuning/tuning_store.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::bench {

/// Microseconds of a launch of a plan in several bursts.
struct burst_times {
  double median, most;
};

/// The clock of a plan: a GPU, or a test.
class plan_meter {
 public:
  virtual ~plan_meter() = default;
  virtual tuning_identity identity() const = 0;
  /// Makes operands of the GEMM, which the plans that follow run on; its plans, ranked. `sizes`: of
  /// its groups.
  virtual std::vector<gemm_plan> begin(gemm_problem const& p,
                                       std::vector<std::int64_t> const& sizes) = 0;
  /// Microseconds of a launch: the least of a few short bursts.
  virtual double trial(gemm_plan const& plan) = 0;
  /// Times of several plans, interleaved, under the protocol of published results. Each plan's
  /// launches follow each other, and start early if the plan says so.
  virtual std::vector<burst_times> compare(std::vector<gemm_plan> const& plans) = 0;
};

/// Times plans on the current GPU. Throws `rejected` (TW05xx without a GPU, TW0710, TW0712).
std::unique_ptr<plan_meter> open_plan_meter();

}  // namespace tw::bench
