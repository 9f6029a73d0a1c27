// SPDX-License-Identifier: Apache-2.0
// workspace.cpp  Counters, then partial sums and copies, each at a multiple of 256 bytes.
#include "dispatch/workspace.hpp"

#include <algorithm>

#include "dispatch/normal_form.hpp"
#include "dispatch/params.hpp"
#include "tilewright/dispatch/candidates.hpp"

namespace tw {

bool tma_addressable(matrix_desc const& m, std::int64_t outer, std::int64_t batch,
                     void const* base) {
  constexpr int alignment_bytes = 16;
  bool const pitch = outer == 1 || m.pitch_elems * size_bytes(m.type) % alignment_bytes == 0;
  bool const stride =
      batch == 1 || m.batch_stride_elems * size_bytes(m.type) % alignment_bytes == 0;
  if (m.has_pointers()) return pitch;
  return pitch && stride && reinterpret_cast<std::uintptr_t>(base) % alignment_bytes == 0;
}

bool splits_sectors(matrix_desc const& m, std::int64_t outer) {
  return outer > 1 && !m.has_pointers() && m.pitch_elems * size_bytes(m.type) % 32 != 0;
}

workspace_layout workspace_of(gemm_plan const& plan) {
  gemm_config const& c = plan.config;
  workspace_layout w;
  if (plan.shared_tiles == 0 && !plan.repitch_a && !plan.repitch_b) return w;
  w.bytes = gemm_workspace_zeros;
  auto const take = [&](std::int64_t bytes) {
    std::int64_t const at = w.bytes;
    w.bytes += (bytes + 255) / 256 * 256;
    return at;
  };
  // Two places for a part of each cluster, float32 (kernel/fixup.hpp).
  if (plan.shared_tiles > 0)
    w.partials =
        take(std::int64_t{8} * plan.sharers * c.cluster_m * c.cluster_n * c.tile_m * c.tile_n);
  if (plan.repitch_a) {
    extents const e = extents_of_a(plan.normal);
    w.copy_a = take(padded_copy(plan.normal.a, e, plan.normal.batch).bytes);
  }
  if (plan.repitch_b) {
    extents const e = extents_of_b(plan.normal);
    w.copy_b = take(padded_copy(plan.normal.b, e, plan.normal.batch).bytes);
  }
  return w;
}

namespace {

/// Two partial tiles of each SM, float32, for the largest tile (workspace_of).
std::int64_t partials_bytes(int sm_count) {
  std::int64_t max_tile = 0;
  for (tile_shape const& t : tile_shape_list)
    max_tile = std::max(max_tile, std::int64_t{t.tile_m} * t.tile_n);
  return gemm_workspace_zeros + 8 * sm_count * max_tile;
}

}  // namespace

std::int64_t gemm_workspace_bytes(gemm_problem const& p, gemm_operands const& o,
                                  device const& dev) {
  std::int64_t const for_shared_tiles =
      std::max(std::int64_t{64} << 20, partials_bytes(dev.sm_count));
  gemm_plan copies;
  copies.normal = p;
  copies.repitch_a = !tma_addressable(p.a, extents_of_a(p).outer, p.batch, o.a);
  copies.repitch_b = !tma_addressable(p.b, extents_of_b(p).outer, p.batch, o.b);
  return for_shared_tiles + workspace_of(copies).bytes;
}

std::int64_t gemm_workspace_bytes(gemm_problem const& p, gemm_operands const& o) {
  auto const most_sms = std::ranges::max_element(known_devices(), {}, &device::sm_count);
  return gemm_workspace_bytes(p, o, *most_sms);
}

}  // namespace tw
