// SPDX-License-Identifier: Apache-2.0
// extra_work.cpp  The bytes of a plan's copies.
#include "family/extra_work.hpp"

#include "family/bind.hpp"

namespace tw {

extra_work extra_work_of(gemm_plan const& plan) {
  gemm_problem const& q = plan.normal;
  std::int64_t bytes = 0;
  if (plan.repitch_a) bytes += padded_copy(q.a, extents_of_a(q), q.batch).bytes;
  if (plan.repitch_b) bytes += padded_copy(q.b, extents_of_b(q), q.batch).bytes;
  if (plan.from_scale_a) bytes += scale_extent(*q.scale_a, q.m, q.k);
  if (plan.from_scale_b) bytes += scale_extent(*q.scale_b, scale_rows_of_b(q), q.k);
  return {static_cast<double>(bytes), plan.direct_d};
}

}  // namespace tw
