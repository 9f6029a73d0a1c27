// SPDX-License-Identifier: Apache-2.0
// gate.cpp  The order of the tiles, and the map of the rank's rows of A.
#include "family/sm90_gemm/gate.hpp"

#include <algorithm>

#include "family/operand_maps.hpp"
#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/raster.hpp"
#include "tilewright/arch/limits.hpp"

namespace tw {
namespace {

/// Tile rows of a cluster tile.
int step_of(gemm_config const& c) { return c.tile_m * c.cluster_m; }

}  // namespace

gemm_plan in_bands_of_ranks(gemm_plan plan, gate_form const& gate) {
  int const step = step_of(config_of(plan)), rank = gate.at.rank;
  auto const begin = static_cast<std::size_t>(rank);
  int const first = gate.first_row[begin] / step;
  int const rows = std::max(1, gate.first_row[begin + 1] / step - first);
  plan_schedule& s = plan.schedule;
  // The order along a Hilbert curve has bands of a power of two.
  if (s.raster == order_kind::hilbert) s.raster = order_kind::serpentine;
  while (first % s.band != 0 || rows % s.band != 0) --s.band;
  return plan;
}

gate_params make_gate_params(gemm_plan const& plan, launch_form const& form, gate_form const& gate,
                             target t) {
  gemm_config const& c = config_of(plan);
  gemm_problem const& q = form.problem;
  gate_params p{};
  p.at = gate.at;
  std::copy(gate.first_row.begin(), gate.first_row.end(), p.first_row);
  auto const rank = static_cast<std::size_t>(gate.at.rank);
  int const begin = gate.first_row[rank];
  tile_order const order = order_of(plan);
  p.first_cluster = 0, p.clusters = plan.schedule.clusters;
  p.first_tile = begin / step_of(c) / order.band * order.band * order.n_tiles % order.tiles();
  if (gate.own == nullptr) return p;
  p.own_begin = begin, p.own_end = gate.first_row[rank + 1];
  // Row `begin` of the map is the first one that is there.
  auto const* const base =
      reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(gate.own) -
                                    static_cast<std::uintptr_t>(begin * gate.own_a.pitch_bytes()));
  auto const map = [&](int rows) {
    return map_of(base, gate.own_a, 1, extents{q.k, p.own_end},
                  box_of(c.a.stored, c.a.major, c.a_swizzle(), rows), c.a_swizzle(), t, false,
                  plan.schedule.l2.a_by_128_bytes);
  };
  int const share = c.tile_m / c.cluster_n, left = static_cast<int>(q.m) % share;
  p.own_a = map(share);
  p.own_a_edge = left == 0 ? p.own_a : map(left);
  return p;
}

}  // namespace tw
