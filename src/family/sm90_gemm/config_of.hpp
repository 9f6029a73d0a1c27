// SPDX-License-Identifier: Apache-2.0
// config_of.hpp  The configuration of a plan's kernel.
#pragma once

#include "family/sm90_gemm/instances.hpp"
#include "tilewright/family/family.hpp"

namespace tw {

/// Is it a plan of this family?
inline bool is_sm90_gemm(gemm_plan const& plan) {
  return plan.family != nullptr && plan.family->id() == "sm90_gemm";
}

/// The kernel of a plan of this family.
using sm90_gemm_family::config_of;

/// It with the tiles of this launch.
inline gemm_config launched(gemm_config c, int tile_cols) {
  if (c.varies_tile_n()) c.tile_n = tile_cols;
  return c;
}
inline gemm_config launched(gemm_plan const& plan) {
  return launched(config_of(plan), plan.schedule.tile_cols);
}

}  // namespace tw
