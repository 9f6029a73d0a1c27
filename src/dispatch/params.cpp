// SPDX-License-Identifier: Apache-2.0
// params.cpp  Tensor maps, tile order and scalars of a launch.
#include "dispatch/params.hpp"

#include <algorithm>
#include <limits>

#include "dispatch/normal_form.hpp"
#include "tilewright/atom/operand.hpp"

namespace tw {

namespace {

std::int64_t round_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b * b; }

/// A 2-D map: `inner` contiguous elements, `outer` of them, boxes of box_inner x box_outer.
tensor_map map_2d(void const* base, matrix_desc const& m, extents e, int box_inner, int box_outer,
                  target t) {
  tensor_map_desc d;
  d.base = const_cast<void*>(base);
  d.type = m.type;
  d.rank = 2;
  d.dim[0] = e.inner;
  d.dim[1] = e.outer;
  std::int64_t const pitch = m.pitch_elems * size_bytes(m.type);
  d.stride_bytes[0] = e.outer == 1 ? round_up(pitch, 16) : pitch;
  d.box[0] = box_inner;
  d.box[1] = box_outer;
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, t);
}

}  // namespace

padded padded_copy(matrix_desc const& m, std::int64_t outer, std::int64_t inner) {
  std::int64_t const pitch = round_up(inner, 16 / size_bytes(m.type));
  return {pitch, pitch * outer * size_bytes(m.type)};
}

extents extents_of_a(gemm_problem const& q) {
  return major_of_a(q.a) == operand_major::k ? extents{q.k, q.m} : extents{q.m, q.k};
}
extents extents_of_b(gemm_problem const& q) {
  return major_of_b(q.b) == operand_major::k ? extents{q.k, q.n} : extents{q.n, q.k};
}

gemm_params make_params(gemm_plan const& plan, gemm_problem const& q, gemm_operands const& o,
                        target t) {
  gemm_config const& c = plan.config;
  gemm_params p{};
  int const a_share = c.tile_m / c.cluster_n, b_share = c.tile_n / c.cluster_m;
  operand_box const a_box = box_of(c.a_major(), a_share);
  operand_box const b_box = box_of(c.b_major(), b_share);
  p.a = map_2d(o.a, q.a, extents_of_a(q), a_box.inner, a_box.outer, t);
  p.b = map_2d(o.b, q.b, extents_of_b(q), b_box.inner, b_box.outer, t);

  epilogue_params& e = p.epilogue;
  e.data = o.d;
  e.pitch = q.d.pitch_elems;
  e.tma_cols = 0;
  if (!plan.direct_d) {
    int const box_cols = 128 / size_bytes(q.d.type);
    e.d = map_2d(o.d, q.d, {q.n, q.m}, box_cols, 64, t);
    // A TMA store writes whole 16-byte chunks: a row that ends inside one would be overrun
    // (docs/decisions/0006). Its last box goes by plain stores.
    bool const whole_chunks = q.n * size_bytes(q.d.type) % 16 == 0;
    e.tma_cols = whole_chunks ? std::numeric_limits<int>::max() - 256
                              : static_cast<int>(q.n / box_cols * box_cols);
  }
  e.m = static_cast<int>(q.m);
  e.n = static_cast<int>(q.n);
  e.alpha = q.alpha;
  e.beta = q.beta;
  e.c = {nullptr, 0, 0, elem::f32};
  if (q.c && q.beta != 0.0F) {
    bool const row_major = q.c->ord == order::row_major;
    e.c = {o.c, row_major ? q.c->pitch_elems : 1, row_major ? 1 : q.c->pitch_elems, q.c->type};
  }

  constexpr int band_rows = 8;  // cluster tiles; measured on the card, docs/decisions/0005
  p.order.m_tiles = static_cast<int>((q.m + c.tile_m * c.cluster_m - 1) / (c.tile_m * c.cluster_m));
  p.order.n_tiles = static_cast<int>((q.n + c.tile_n * c.cluster_n - 1) / (c.tile_n * c.cluster_n));
  p.order.band = band_rows;
  p.k_tiles = static_cast<int>((q.k + c.tile_k - 1) / c.tile_k);
  return p;
}

int persistent_ctas(gemm_plan const& plan, gemm_params const& p, int sms) {
  int const cluster = plan.config.cluster_m * plan.config.cluster_n;
  std::int64_t const tiles = static_cast<std::int64_t>(p.order.m_tiles) * p.order.n_tiles;
  std::int64_t const most = std::max(1, sms / cluster);
  std::int64_t const waves = (tiles + most - 1) / most;
  return static_cast<int>((tiles + waves - 1) / waves) * cluster;
}

}  // namespace tw
