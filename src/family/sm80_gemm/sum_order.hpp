// SPDX-License-Identifier: Apache-2.0
// sum_order.hpp  The order in which an Ampere kernel adds the terms of an element of D.
#pragma once

#include <fmt/format.h>

#include "tilewright/family/family.hpp"
#include "tilewright/kernel/sm80/config.hpp"

namespace tw::sm80_gemm_family {

/// On Ampere and Ada GPUs these kernels are all there are; on Hopper another order is served.
inline sum_order sum_order_of(sm80_config const& c, device const& dev) {
  sum_order order{fmt::format("mma.sync of {} elements of K, one after another, in {}", c.mma_k,
                              c.f16_sums ? "f16" : "float32"),
                  ""};
  if (c.f16_sums)
    order.why_not = "sums in f16; its kernels do not serve every M and N";
  else if (c.mma_k != 16)
    order.why_not = "the other kernels of the family add 16 elements of K at a time";
  else if (dev.compute_capability == 90)
    order.why_not = "on this GPU reproducible GEMMs have the order of wgmma";
  else if (dev.compute_capability > 90)
    order.why_not = "this order is promised for Ampere and Ada GPUs alone";
  return order;
}

}  // namespace tw::sm80_gemm_family
