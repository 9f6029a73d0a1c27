// SPDX-License-Identifier: Apache-2.0
// params.cpp  Tensor maps, the order of tiles and scalars of a launch.
#include "family/sm100_gemm/params.hpp"

#include "family/bind.hpp"
#include "family/operand_maps.hpp"
#include "family/operand_scales.hpp"
#include "family/sm100_gemm/computes.hpp"
#include "family/tcgen05_params.hpp"
#include "family/tile_order.hpp"
#include "tilewright/base/round_up.hpp"

namespace tw::sm100_gemm_family {

tile_order order_of(gemm_plan const& plan) {
  sm100_config const& c = config_of(plan);
  gemm_problem const& q = plan.normal;
  return ordered({.m_tiles = static_cast<int>(divide_up(q.m, c.tile_m())),
                  .n_tiles = static_cast<int>(divide_up(q.n, c.tile_n)),
                  .band = 1,
                  .batch = static_cast<int>(q.batch)},
                 plan.schedule);
}

sm100_params make_params(gemm_plan const& plan, gemm_problem const& q, gemm_operands const& o,
                         target t) {
  sm100_config const& c = config_of(plan);
  sm100_params p{};
  p.walk = tile_walk(order_of(plan));
  p.k_blocks = static_cast<int>(divide_up(q.k, c.tile_k()));
  std::int64_t const a_matrices = matrices_of(q, q.a), b_matrices = matrices_of(q, q.b);
  bool const placed = c.by_pointers();
  p.a_matrices = q.a.has_pointers() ? o.a_array : nullptr;
  p.b_matrices = q.b.has_pointers() ? o.b_array : nullptr;
  p.a_batched = a_matrices > 1 ? 1 : 0;
  p.b_batched = b_matrices > 1 ? 1 : 0;
  constexpr swizzle_mode wide = swizzle_mode::b128;
  p.a = map_of(o.a, as_mapped(q.a), a_matrices, extents_of_a(q),
               box_of(c.a.stored, c.a.major, wide, c.tile_m() / c.ctas), wide, t, placed);
  p.b = c.gated() ? tcgen05_gated_map(o.b, q, c.tile_k(), c.d_cols(), t)
                  : map_of(o.b, as_mapped(q.b), b_matrices, extents_of_b(q),
                           box_of(c.b.stored, c.b.major, wide, c.b_share()), wide, t, placed);
  p.epilogue = tcgen05_epilogue(plan, q, o, placed, t);
  if (c.block_scales) {
    p.a_scales = scales_of(q, o, role::a);
    p.b_scales = scales_of(q, o, role::b);
  }
  return p;
}

}  // namespace tw::sm100_gemm_family
