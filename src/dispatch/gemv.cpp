// SPDX-License-Identifier: Apache-2.0
// gemv.cpp  Candidates, predictions and parameters of GEMV kernels.
#include "dispatch/gemv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dispatch/normal_form.hpp"
#include "dispatch/params.hpp"
#include "family/gemv/instances.hpp"
#include "family/gemv/launchers.hpp"

namespace tw {

namespace {

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// As far as any kernel of the family does: types are the kernels' own.
bool computes(gemm_plan const& base) {
  gemm_problem const& q = base.normal;
  bool const k_major = major_of_a(q.a) == operand_major::k && major_of_b(q.b) == operand_major::k;
  return k_major && !q.has_pointers() && !is_fused(q.epilogue) && !q.aux && !base.repitch_a &&
         !base.repitch_b && q.k % gemv_config::piece == 0;
}

/// Groups of rows of all products.
std::int64_t items_of(gemv_config const& c, gemm_problem const& q) {
  return up(q.m, c.cta_rows()) * q.batch;
}

/// DRAM, the turns of a CTA's loop and what one SM reads limit together: their squares add
/// (docs/decisions/0014).
cost predict(gemv_config const& c, gemm_problem const& q, sharing const& s, device const& dev) {
  gemv_calibration const& m = dev.model->gemv;
  auto const matrices = [&](matrix_desc const& x) {
    return x.batch_stride_elems == 0 ? 1.0 : static_cast<double>(q.batch);
  };
  auto const rows = static_cast<double>(q.m), cols = static_cast<double>(q.n);
  double const bytes =
      (rows * matrices(q.a) + cols * matrices(q.b)) * static_cast<double>(q.k) * size_bytes(c.ab) +
      rows * cols * static_cast<double>(q.batch) * size_bytes(c.d);
  auto const turns = static_cast<double>(up(q.k / gemv_config::piece, c.turn_pieces()));
  auto const rounds = static_cast<double>(up(s.tiles, s.clusters));
  double const group =
      c.by_mma() ? turns * m.turn_us_mma + m.group_us_mma : turns * m.turn_us_fma + m.group_us_fma;
  double const turn_bytes =
      static_cast<double>(c.cta_rows()) * c.turn_pieces() * gemv_config::piece * size_bytes(c.ab);
  double const sm = static_cast<double>(up(s.tiles, dev.sm_count)) * turns * turn_bytes;
  cost t;
  t.dram_us = bytes / (q.n > 8       ? m.dram_bytes_per_us_16
                       : q.n > 4     ? m.dram_bytes_per_us_8
                       : c.cols == 1 ? m.dram_bytes_per_us
                                     : m.dram_bytes_per_us_columns);
  t.loads_us = std::hypot(rounds * group, sm / m.sm_bytes_per_us);
  t.total_us = m.launch_us + std::hypot(t.dram_us, t.loads_us);
  return t;
}

}  // namespace

std::vector<gemv_option> gemv_options(gemm_plan const& base, device const& dev) {
  std::vector<gemv_option> options;
  gemm_problem const& q = base.normal;
  if (!computes(base)) return options;
  for (gemv_family::instance const& i : gemv_family::instances()) {
    gemv_config const& c = i.config;
    if (c.ab != q.a.type || c.d != q.d.type) continue;
    auto const index = static_cast<std::size_t>(&i - gemv_family::instances().data());
    std::int64_t const items = items_of(c, q);
    if (q.n > c.cols || items > std::int64_t{1} << 30) continue;
    gemv_option x{base, {}, {static_cast<int>(items), 0, 0, 0}};
    x.tiles.clusters = std::min(x.tiles.tiles, c.ctas_per_sm * dev.sm_count);
    x.time = predict(c, q, x.tiles, dev);
    gemm_plan& p = x.plan;
    p.gemv = c;
    p.config = {};  // no kernel of kernel/gemm_sm90.hpp
    p.config.ab = c.ab, p.config.d = c.d;
    p.config.d_m = q.d.ord == order::col_major;
    p.config.tile_m = c.cta_rows(), p.config.tile_n = c.cols;
    p.config.cluster_m = 1, p.config.stages = 0;
    p.kernel = i.name;
    p.built = gemv_family::emu_launchers()[index] != nullptr;
    p.clusters = x.tiles.clusters;
    p.predicted_us = x.time.total_us;
    if (p.direct_d) p.hints.pop_back(), p.direct_d = false;  // every D is written by plain stores
    options.push_back(std::move(x));
  }
  return options;
}

double gemv_predicted_us(gemm_plan const& plan, device const& dev) {
  auto const groups = static_cast<int>(items_of(*plan.gemv, plan.normal));
  return predict(*plan.gemv, plan.normal, {groups, plan.clusters, 0, 0}, dev).total_us;
}

plan_terms gemv_terms(gemv_option const& x, device const& dev) {
  plan_terms r;
  r.loads = x.time.loads_us;
  r.dram = x.time.dram_us;
  r.launch = dev.model->gemv.launch_us;
  r.waves = static_cast<double>(up(x.tiles.tiles, x.tiles.clusters));
  return r;
}

std::string gemv_why(gemv_option const& x, std::size_t of) {
  gemm_plan const& p = x.plan;
  gemv_config const& c = *p.gemv;
  return fmt::format(
      "{}{}few columns: {} groups of {} rows on {} CTAs, whose {} warps share K; predicted for "
      "{}: {:.1f} us (loads {:.1f}, DRAM {:.1f}), of {} plan{}",
      p.swapped ? "the transposed product: " : "",
      p.normal.batch != p.problem.batch ? "the batch as one GEMM: " : "", x.tiles.tiles,
      c.cta_rows(), x.tiles.clusters, c.warps_k, p.predicted_for, x.time.total_us, x.time.loads_us,
      x.time.dram_us, of, of == 1 ? "" : "s");
}

gemv_params make_gemv_params(gemm_plan const& plan, gemm_problem const& q, gemm_operands const& o) {
  auto const check = [](char const* name, void const* base) {
    if (auto const address = reinterpret_cast<std::uintptr_t>(base); address % 16 != 0)
      throw rejected({"TW0409", fmt::format("address of {}", name), fmt::format("{:#x}", address),
                      "a multiple of 16, as the plan was made for",
                      "plan with the operands that the launch will have"});
  };
  check(plan.swapped ? "B" : "A", o.a);
  check(plan.swapped ? "A" : "B", o.b);
  bool const row_major = q.d.ord == order::row_major;
  gemv_params p{};
  p.a = {o.a, q.a.pitch_elems, q.a.batch_stride_elems};
  p.b = {o.b, q.b.pitch_elems, q.b.batch_stride_elems};
  p.d = {o.d, row_major ? q.d.pitch_elems : 1, row_major ? 1 : q.d.pitch_elems,
         q.d.batch_stride_elems};
  p.c = view_of_c(q, o);
  p.alpha = q.alpha;
  p.beta = q.beta;
  p.m = static_cast<int>(q.m);
  p.n = static_cast<int>(q.n);
  p.pieces = static_cast<int>(q.k / gemv_config::piece);
  p.groups = static_cast<int>(up(q.m, plan.gemv->cta_rows()));
  p.items = p.groups * static_cast<int>(q.batch);
  return p;
}

}  // namespace tw
