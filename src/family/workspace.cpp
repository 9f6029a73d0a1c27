// SPDX-License-Identifier: Apache-2.0
// workspace.cpp  Counters, then partial sums and copies, each at a multiple of 256 bytes.
#include "family/workspace.hpp"

#include "family/bind.hpp"
#include "family/normal_form.hpp"
#include "family/ordered_rows.hpp"
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
  if (partials == 0 && !copies_operands(plan) && !plan.stage_d) return w;
  w.bytes = gemm_workspace_zeros;
  auto const take = [&](std::int64_t bytes) {
    std::int64_t const at = w.bytes;
    w.bytes += (bytes + 255) / 256 * 256;
    return at;
  };
  if (partials > 0) w.partials = take(partials);
  gemm_problem const& q = plan.normal;
  for (role const x : a_and_b)
    if (plan.repitch[x])
      w.copies[x] = take(padded_copy(*matrix_of(q, x), extents_of(q, x), q.batch).bytes);
  for (role const x : a_and_b)
    if (plan.scales_from[x]) {
      scale_desc const& s = *scale(q, x);
      w.scales[x] = take(scale_extent(s, scale_rows(q, x), q.k) + s.batch_stride * (q.batch - 1));
    }
  if (plan.ordered) {
    ordered_bytes const bytes = ordered_bytes_of(plan);
    w.ordered = take(bytes.rows), w.ordered_scales = take(bytes.scales);
  }
  if (plan.stage_d) {
    gemm_problem const& p = plan.problem;
    matrix_desc const d = staged_d(p);
    w.staged_d = take(p.batch * p.m * d.pitch_elems * size_bytes(d.type));
  }
  return w;
}

}  // namespace tw
