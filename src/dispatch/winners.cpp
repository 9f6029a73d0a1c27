// SPDX-License-Identifier: Apache-2.0
// winners.cpp  The table of measured plans.
#include "dispatch/winners.hpp"

#include <string_view>

#include "family/gemv/config_of.hpp"
#include "family/normal_form.hpp"
#include "family/sm90_gemm/config_of.hpp"

namespace tw {

namespace {
constexpr winner h200[] = {
#include "dispatch/winners_h200.inc"
};
}  // namespace

bool is_plan(winner const& w, gemm_plan const& p) {
  plan_schedule const& s = p.schedule;
  if (w.gemv.rows > 0 || gemv_family::is_gemv(p)) {
    if (!gemv_family::is_gemv(p)) return false;
    gemv_config const& c = gemv_family::config_of(p);
    gemv_shape const& g = w.gemv;
    return c ==
           gemv_config{c.ab, c.d, g.rows, g.cols, g.unroll, g.warps_m, g.warps_k, g.ctas_per_sm};
  }
  if (!is_sm90_gemm(p)) return false;
  gemm_config const c = launched(p);
  tile_shape const& t = w.tile;
  return t.tile_m == c.tile_m && t.tile_n == c.tile_n && t.cluster_m == c.cluster_m &&
         t.cluster_n == c.cluster_n && t.cluster_k == c.cluster_k && t.stages == c.stages &&
         t.pingpong == c.pingpong && t.d_m == c.d_m && t.fused == c.fused &&
         w.shared_tiles == s.shared_tiles && w.sharers == s.sharers;
}

std::span<winner const> winners() { return h200; }

std::optional<winner> find_winner(gemm_problem const& p, device const& dev) {
  bool const plain = !p.c && !is_fused(p.epilogue) && !p.aux;
  if (dev.tuning_table != "h200" || !plain) return std::nullopt;
  if (p.d.ord != order::row_major) return find_winner(transposed(p), dev);
  bool const dense = p.a.pitch_elems == (p.a.ord == order::row_major ? p.k : p.m) &&
                     p.b.pitch_elems == (p.b.ord == order::row_major ? p.n : p.k) &&
                     p.d.pitch_elems == p.n;
  auto const in_line = [&](matrix_desc const& m, std::int64_t elems) {
    return p.batch == 1 || m.has_pointers() || m.batch_stride_elems == elems;
  };
  if (!dense || !in_line(p.a, p.m * p.k) || !in_line(p.b, p.k * p.n) || !in_line(p.d, p.m * p.n))
    return std::nullopt;
  char const layout[] = {p.a.ord == order::row_major ? 'T' : 'N',
                         p.b.ord == order::col_major ? 'N' : 'T', 0};
  auto const find = [&](elem ab, elem d) -> std::optional<winner> {
    for (winner const& w : h200)
      if (w.m == p.m && w.n == p.n && w.k == p.k && w.batch == p.batch && w.ab == ab && w.d == d &&
          std::string_view(w.layout) == layout)
        return w;
    return std::nullopt;
  };
  if (auto const w = find(p.a.type, p.d.type); w || p.a.type != elem::f16) return w;
  return find(elem::bf16, p.d.type == elem::f16 ? elem::bf16 : p.d.type);
}

}  // namespace tw
