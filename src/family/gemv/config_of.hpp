// SPDX-License-Identifier: Apache-2.0
// config_of.hpp  The configuration of a plan's kernel.
#pragma once

#include "family/gemv/instances.hpp"
#include "tilewright/family/family.hpp"

namespace tw::gemv_family {

/// Is it a plan of this family?
inline bool is_gemv(gemm_plan const& plan) {
  return plan.family != nullptr && plan.family->id() == "gemv";
}

/// The kernel of a plan of this family.
inline gemv_config const& config_of(gemm_plan const& plan) {
  return instances()[static_cast<std::size_t>(plan.instance)].config;
}

}  // namespace tw::gemv_family
