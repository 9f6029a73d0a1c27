// SPDX-License-Identifier: Apache-2.0
// plan.cpp  Problem -> accept -> candidates -> cost -> plan.
#include <fmt/format.h>

#include "dispatch/cost.hpp"
#include "dispatch/normal_form.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw {

namespace {

constexpr std::int64_t tma_alignment_bytes = 16;

/// Can TMA address this matrix? Base and pitch must be multiples of 16 bytes; the pitch does not
/// matter for a single row or column.
bool tma_addressable(matrix_desc const& m, std::int64_t outer, void const* base) {
  bool const pitch = outer == 1 || m.pitch_elems * size_bytes(m.type) % tma_alignment_bytes == 0;
  return pitch && reinterpret_cast<std::uintptr_t>(base) % tma_alignment_bytes == 0;
}

std::string slower_path(char const* matrix, matrix_desc const& m, char const* consequence) {
  return fmt::format(
      "{}: pitch of {} bytes or its base is not a multiple of 16 bytes, which TMA "
      "needs; {}. A padded pitch avoids this",
      matrix, m.pitch_elems * size_bytes(m.type), consequence);
}

}  // namespace

std::string kernel_name(gemm_config const& c) {
  char const a = c.a_major() == operand_major::k ? 't' : 'n';
  char const b = c.b_major() == operand_major::k ? 'n' : 't';
  return fmt::format("sm90_{}_{}_{}{}_{}x{}x{}_{}x{}_s{}", name(c.ab), name(c.d), a, b, c.tile_m,
                     c.tile_n, c.tile_k, c.cluster_m, c.cluster_n, c.stages);
}

gemm_plan plan_gemm(gemm_problem const& p, gemm_operands const& given, int device_sms) {
  if (auto r = accept(p)) throw rejected(*r);
  gemm_plan plan;
  plan.problem = p;
  plan.swapped = p.d.ord == order::col_major;
  plan.normal = plan.swapped ? transposed(p) : p;
  gemm_operands const o = plan.swapped ? transposed(given) : given;
  gemm_problem const& q = plan.normal;

  operand_major const a = major_of_a(q.a), b = major_of_b(q.b);
  plan.repitch_a = !tma_addressable(q.a, a == operand_major::k ? q.m : q.k, o.a);
  plan.repitch_b = !tma_addressable(q.b, b == operand_major::k ? q.n : q.k, o.b);
  plan.direct_d = !tma_addressable(q.d, q.m, o.d);
  char const* const first = plan.swapped ? "B" : "A";
  char const* const second = plan.swapped ? "A" : "B";
  if (plan.repitch_a)
    plan.hints.push_back(slower_path(first, q.a, "it is copied to a padded pitch first"));
  if (plan.repitch_b)
    plan.hints.push_back(slower_path(second, q.b, "it is copied to a padded pitch first"));
  if (plan.direct_d) plan.hints.push_back(slower_path("D", q.d, "it is written by plain stores"));

  cost best;
  tile_shape chosen{};
  for (int i = 0; i < tile_shapes; ++i) {
    tile_shape const t = tile_shape_at(i);
    cost const c = predict(q, t, device_sms);
    if (i == 0 || c.clocks < best.clocks) {
      best = c;
      chosen = t;
    }
  }
  plan.config = config_of(chosen, q.a.type, q.d.type, a, b);
  plan.kernel = kernel_name(plan.config);
  plan.why = fmt::format(
      "tile 128x{} in clusters of {}x{}: {} tiles in {} wave(s) on {} SMs, "
      "predicted {:.0f} clocks, the fewest of {} shapes",
      chosen.tile_n, chosen.cluster_m, chosen.cluster_n, best.tiles, best.waves, device_sms,
      best.clocks, tile_shapes);
  return plan;
}

}  // namespace tw
