// SPDX-License-Identifier: Apache-2.0
// params.cpp  Tensor maps of operands and scales, the order of tiles and scalars of a launch.
#include "family/sm100_scaled/params.hpp"

#include "family/bind.hpp"
#include "family/operand_maps.hpp"
#include "family/sm100_scaled/computes.hpp"
#include "family/tcgen05_params.hpp"
#include "family/tile_order.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/kernel/sm100/cta.hpp"

namespace tw::sm100_scaled_family {

namespace {

/// Scales in the order 32x4x4, whose tiles follow each other along K.
tensor_map map_of_scales(gemm_problem const& q, gemm_operands const& o, role x,
                         block_scaled_config const& c, int row_tiles, target t) {
  scale_desc const& s = *scale(q, x);
  std::int64_t const outer = scale_rows(q, x);
  tensor_map_desc const map =
      factor_map(const_cast<void*>(address(o, scales_of(x))), c.scale, outer, q.k, c, row_tiles);
  std::int64_t const matrices = s.batch_stride == 0 ? 1 : q.batch;
  bool const one_row = outer <= scale_tile_rows;  // of tiles: any stride that TMA accepts
  return make_tensor_map(
      batched(map, one_row ? map.stride_bytes[1] : s.stride_outer, matrices, s.batch_stride), t);
}

}  // namespace

tile_order order_of(gemm_plan const& plan) {
  block_scaled_config const& c = config_of(plan);
  gemm_problem const& q = plan.normal;
  return ordered({.m_tiles = static_cast<int>(divide_up(q.m, c.tile_m())),
                  .n_tiles = static_cast<int>(divide_up(q.n, c.tile_n)),
                  .band = 1,
                  .batch = static_cast<int>(q.batch)},
                 plan.schedule);
}

block_scaled_params make_params(gemm_plan const& plan, gemm_problem const& q,
                                gemm_operands const& o, target t) {
  block_scaled_config const& c = config_of(plan);
  auto const second_level = [&](role x) {
    return static_cast<float const*>(address(o, second_level_of(x)));
  };
  second_level_scale const second =
      c.nvfp4() ? second_level_scale(second_level(role::a), second_level(role::b))
                : second_level_scale::none();
  block_scaled_params p{second, {}, 0, {}, {}, {}, {}, 0, 0, 0, 0, 0, {}};
  p.walk = tile_walk(order_of(plan));
  p.k_blocks = static_cast<int>(divide_up(q.k, c.tile_k()));
  std::int64_t const a_matrices = matrices_of(q, q.a), b_matrices = matrices_of(q, q.b);
  auto const many = [](bool x) { return x ? 1 : 0; };
  p.a_batched = many(a_matrices > 1), p.b_batched = many(b_matrices > 1);
  auto const scales_batched = [&](role x) {
    return many(q.batch > 1 && scale(q, x)->batch_stride != 0);
  };
  p.sfa_batched = scales_batched(role::a), p.sfb_batched = scales_batched(role::b);
  constexpr swizzle_mode wide = swizzle_mode::b128;
  p.a = map_of(o.a, q.a, a_matrices, {q.k, q.m}, {c.tile_k(), sm100_cta::rows}, wide, t, false);
  p.b = c.gated()
            ? tcgen05_gated_map(o.b, q, c.tile_k(), c.d_cols(), t)
            : map_of(o.b, q.b, b_matrices, {q.k, q.n}, {c.tile_k(), c.b_share()}, wide, t, false);
  p.sfa = map_of_scales(q, o, role::a, c, 1, t);
  p.sfb = map_of_scales(q, o, role::b, c, c.gated() ? 1 : c.n_atoms(), t);
  p.up_atom = static_cast<int>(scale_rows(q, role::b) / 2 / scale_tile_rows);
  p.epilogue = tcgen05_epilogue(plan, q, o, false, t);
  if (c.block_result()) {
    scale_desc const& s = q.scale_d->desc;
    p.epilogue.scales = {o.scale_d, s.stride_outer, s.stride_k, s.batch_stride, 0, 1, 1, 0};
  }
  return p;
}

}  // namespace tw::sm100_scaled_family
