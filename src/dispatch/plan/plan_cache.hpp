// SPDX-License-Identifier: Apache-2.0
// plan_cache.hpp  Plans that were made before, for calls that name a problem instead of a plan.
#pragma once

#include <memory>

#include "tilewright/dispatch/gemm.hpp"

namespace tw {

/// All that plan_gemm() reads, and the device the plan is for. Two descriptions with one model and
/// as many SMs differ in nothing else while this library makes them: only it fills the cache.
struct plan_key {
  gemm_problem problem;
  std::int64_t workspace_bytes = 0;
  calibration const* model = nullptr;  // of the device,
  int sm_count = 0;                    // and its SMs
  int ordinal = -1;                    // CUDA's number of it; -1: the emulator
  unsigned aligned = 0;                // bit r: operand r begins at a multiple of 16 bytes
  bool gated = false;                  // of plan_gated()

  bool operator==(plan_key const&) const = default;
};
struct plan_key_hash {
  std::size_t operator()(plan_key const& k) const;
};
plan_key key_of(gemm_problem const& p, gemm_operands const& o, device const& dev, int ordinal);

/// plan_gemm(), remembered. Any thread may call it; a plan that is held stays valid when the cache
/// is emptied. Throws as plan_gemm; a refusal is not remembered.
std::shared_ptr<gemm_plan const> cached_plan(gemm_problem const& p, gemm_operands const& o,
                                             device const& dev, int ordinal);

/// Plans that are remembered now. At `most_cached_plans` the cache is emptied and fills anew.
std::size_t cached_plans();
inline constexpr std::size_t most_cached_plans = 4096;

}  // namespace tw
