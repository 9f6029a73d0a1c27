// SPDX-License-Identifier: Apache-2.0
// sum_order.hpp  The order in which a plan adds the K terms of an element of D. docs/invariance.md
//                derives why equal orders give equal bits.
#pragma once

#include <fmt/format.h>

#include "family/sm90_gemm/config_of.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/family/family.hpp"

namespace tw {

/// wgmma takes its terms as a set, so neither the tile nor the roles of A and B matter; what
/// does is which elements of K follow each other, and where a float32 sum is begun anew.
inline sum_order sum_order_of(gemm_plan const& plan) {
  gemm_config const& c = config_of(plan);
  if (c.integer_sums()) return {"exact, in 32 bits", ""};
  std::string const form =
      c.sums == sum_form::f16 ? "in f16"
      : c.scaled() ? fmt::format("each sum of {} times its scales, added in float32", c.promote_k())
      : c.promote_k() > 0 ? fmt::format("added to a float32 sum every {}", c.promote_k())
                          : "in float32";
  sum_order order{fmt::format("wgmma of {} elements of K, one after another, {}",
                              traits_of(c.a.multiplied).mma_k(), form),
                  ""};
  if (c.sums == sum_form::f16)
    order.why_not = "sums in f16; its kernels do not serve every M and N";
  else if (c.cluster_k > 1)
    order.why_not = "the CTAs of a cluster each add a part of K";
  else if (c.k_turns > 1)
    order.why_not = "warpgroups take the K blocks of a tile in turn";
  else if (plan.schedule.split_k_tiles > 0)
    order.why_not = "clusters share the K of a tile, in parts that depend on M and N";
  return order;
}

}  // namespace tw
