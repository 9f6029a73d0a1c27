// SPDX-License-Identifier: Apache-2.0
// extra_work.hpp  Work that TMA and cp.async cannot do.
#pragma once

#include "tilewright/family/plan.hpp"

namespace tw {

struct extra_work {
  double copied_bytes = 0;    // of operands and scales, by a launch before
  bool plain_stores = false;  // of D
};

extra_work extra_work_of(gemm_plan const& plan);

}  // namespace tw
