// SPDX-License-Identifier: Apache-2.0
// workspace.cpp  Counters, then partial sums and copies, each at a multiple of 256 bytes.
#include "family/workspace.hpp"

#include "family/bind.hpp"
#include "family/normal_form.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/device/cache_line.hpp"
#include "tilewright/family/family.hpp"

namespace tw {

bool tma_addressable(matrix_desc const& m, std::int64_t outer, std::int64_t batch,
                     void const* base) {
  constexpr int alignment_bytes = tma_chunk_bytes;
  bool const lines = m.pitch_bytes() % alignment_bytes == 0;
  if (m.has_pointers()) return lines;
  bool const pitch = outer == 1 || lines;
  bool const stride = batch == 1 || m.batch_stride_bytes() % alignment_bytes == 0;
  return pitch && stride && reinterpret_cast<std::uintptr_t>(base) % alignment_bytes == 0;
}

bool splits_sectors(matrix_desc const& m, std::int64_t outer) {
  return outer > 1 && !m.has_pointers() && m.pitch_bytes() % l2_sector_bytes != 0;
}

workspace_layout workspace_of(gemm_plan const& plan) {
  std::int64_t const partials = plan.family == nullptr ? 0 : plan.family->partials_bytes(plan);
  workspace_layout w;
  bool const scales = plan.from_scale_a || plan.from_scale_b;
  if (partials == 0 && !plan.repitch_a && !plan.repitch_b && !plan.stage_d && !scales) return w;
  w.bytes = gemm_workspace_zeros;
  auto const take = [&](std::int64_t bytes) {
    std::int64_t const at = w.bytes;
    w.bytes += (bytes + 255) / 256 * 256;
    return at;
  };
  if (partials > 0) w.partials = take(partials);
  if (plan.repitch_a) {
    extents const e = extents_of_a(plan.normal);
    w.copy_a = take(padded_copy(plan.normal.a, e, plan.normal.batch).bytes);
  }
  if (plan.repitch_b) {
    extents const e = extents_of_b(plan.normal);
    w.copy_b = take(padded_copy(plan.normal.b, e, plan.normal.batch).bytes);
  }
  auto const scale_bytes = [&](scale_desc const& s, std::int64_t outer) {
    std::int64_t const one = scale_extent(s, outer, plan.normal.k);
    return one + s.batch_stride * (plan.normal.batch - 1);
  };
  if (plan.from_scale_a) w.scale_a = take(scale_bytes(*plan.normal.scale_a, plan.normal.m));
  if (plan.from_scale_b)
    w.scale_b = take(scale_bytes(*plan.normal.scale_b, scale_rows_of_b(plan.normal)));
  if (plan.stage_d) {
    gemm_problem const& p = plan.problem;
    matrix_desc const d = staged_d(p);
    w.staged_d = take(p.batch * p.m * d.pitch_elems * size_bytes(d.type));
  }
  return w;
}

}  // namespace tw
