// SPDX-License-Identifier: Apache-2.0
// extra_work.cpp  The bytes of a plan's copies.
#include "family/extra_work.hpp"

#include "family/bind.hpp"

namespace tw {

extra_work extra_work_of(gemm_plan const& plan) { return {copied_bytes(plan), plan.direct_d}; }

}  // namespace tw
