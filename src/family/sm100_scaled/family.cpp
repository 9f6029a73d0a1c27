// SPDX-License-Identifier: Apache-2.0
// family.cpp  The family sm100_scaled: GEMM kernels for MXFP8, MXFP4 and NVFP4 operands, whose
//             scales tcgen05.mma multiplies, for compute capabilities 10.0 and 10.3.
#include <fmt/format.h>

#include <algorithm>

#include "family/bind.hpp"
#include "family/footprint.hpp"
#include "family/launcher_of.hpp"
#include "family/sm100_scaled/config_of.hpp"
#include "family/sm100_scaled/cost.hpp"
#include "family/sm100_scaled/launchers.hpp"
#include "family/sm100_scaled/params.hpp"
#include "family/sm100_scaled/resources.hpp"
#include "family/tcgen05_memory.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/family/family.hpp"

namespace tw::sm100_scaled_family {

namespace {

constexpr std::int64_t max_tiles = std::int64_t{1} << 30;  // running numbers are ints

block_scaled_config const& config(int kernel) {
  return instances()[static_cast<std::size_t>(kernel)].config;
}

std::int64_t tiles_of(block_scaled_config const& c, gemm_problem const& q) {
  return divide_up(q.m, c.tile_m()) * divide_up(q.n, c.tile_n) * q.batch;
}

tcgen05_cost cost_of(gemm_plan const& plan, device const& dev) {
  gemm_problem const& q = plan.normal;
  extra_work extra{.plain_stores = plan.direct_d};
  auto const add = [&](matrix_desc const& m, extents e) {
    extra.copied_bytes += static_cast<double>(padded_copy(m, e, q.batch).bytes);
  };
  if (plan.repitch_a) add(q.a, extents_of_a(q));
  if (plan.repitch_b) add(q.b, extents_of_b(q));
  auto const add_scales = [&](scale_desc const& s, std::int64_t outer) {
    extra.copied_bytes += static_cast<double>(scale_extent(s, outer, q.k));
  };
  if (plan.from_scale_a) add_scales(*q.scale_a, q.m);
  if (plan.from_scale_b) add_scales(*q.scale_b, scale_rows_of_b(q));
  return predict(q, config_of(plan), dev, extra);
}

/// The panels of the tiles that run at the same time, for the choice of their order.
strips panels_of(gemm_plan const& plan, device const& dev) {
  block_scaled_config const& c = config_of(plan);
  gemm_problem const& q = plan.normal;
  double const k_bytes = static_cast<double>(q.k) * size_bits(c.a) / 8;
  return {.row_bytes = c.tile_m() * k_bytes,
          .col_bytes = c.tile_n * k_bytes,
          .shared_rows = q.a.batch_stride_elems == 0,
          .shared_cols = q.b.batch_stride_elems == 0,
          .wave = resident_tcgen05_clusters(c.ctas, dev)};
}

int ctas_of(gemm_plan const& plan) { return plan.schedule.clusters * config_of(plan).ctas; }

class family final : public gemm_family {
 public:
  std::string_view id() const override { return "sm100_scaled"; }
  int kernel_count() const override { return static_cast<int>(instances().size()); }

  kernel_facts facts(int kernel) const override {
    block_scaled_config const& c = config(kernel);
    kernel_facts f;
    f.ab = c.a, f.d = c.d;
    if (c.b != c.a) f.b_type = c.b;
    f.block_scaled = format_of(c);
    f.d_order = order::row_major;
    f.epilogue = c.operands();
    f.device = "b200";
    f.m = {1, 2 * c.tile_m() + 40}, f.n = {1, 2 * c.tile_n + 40};
    if (packs_in_pairs(c.d)) f.n = {2, 2 * c.tile_n + 40, 2};
    if (c.gated()) f.n = {16, 2 * c.tile_n + 48, 16};
    f.ld_step = c.dense() ? 2 : 1;  // elements in a byte
    f.k = {f.ld_step, 4 * c.tile_k(), f.ld_step};
    return f;
  }

  bool built(int kernel) const override {
    return emu_launchers()[static_cast<std::size_t>(kernel)] != nullptr;
  }
  std::string name(int kernel, plan_schedule const&) const override {
    return std::string(instances()[static_cast<std::size_t>(kernel)].name);
  }
  std::string tuning_text(int kernel) const override { return name(kernel, {}); }

  bool computes(gemm_problem const& q) const override {
    return std::ranges::any_of(
        instances(), [&](instance const& i) { return sm100_scaled_family::computes(i.config, q); });
  }

  void add_plans(gemm_plan const& base, device const& dev, std::int64_t,
                 std::vector<gemm_plan>& plans) const override {
    // Machine code of sm_100f runs on these two.
    if (dev.compute_capability != 100 && dev.compute_capability != 103) return;
    for (int kernel = 0; kernel < kernel_count(); ++kernel) {
      block_scaled_config const& c = config(kernel);
      gemm_problem const& q = base.normal;
      std::int64_t const tiles = tiles_of(c, q);
      if (!sm100_scaled_family::computes(c, q) || tiles > max_tiles) continue;
      gemm_plan& plan = plans.emplace_back(base);
      plan.family = this;
      plan.instance = kernel;
      plan.built = built(kernel);
      plan.kernel = name(kernel, {});
      plan.schedule.clusters =
          static_cast<int>(std::min<std::int64_t>(tiles, resident_tcgen05_clusters(c.ctas, dev)));
      plan.predicted_us = cost_of(plan, dev).total_us;
    }
  }

  double predicted_us(gemm_plan const& plan, device const& dev) const override {
    return cost_of(plan, dev).total_us;
  }

  void finish(gemm_plan& plan, device const& dev) const override {
    tcgen05_cost const t = cost_of(plan, dev);
    block_scaled_config const& c = config_of(plan);
    tile_order const best =
        choose_order(order_of(plan), panels_of(plan, dev), c.tile_m(), dev.model->tile_order);
    plan.schedule.raster = best.kind;
    plan.schedule.band = best.band;
    std::int64_t const tiles = tiles_of(c, plan.normal);
    plan.terms = {};
    plan.terms.tensor = std::min(t.tensor_us, t.math_us);
    plan.terms.idle = t.math_us - plan.terms.tensor;
    plan.terms.loads = t.loads_us;
    plan.terms.shared_memory = t.shared_memory_us;
    plan.terms.dram = t.dram_us;
    plan.terms.epilogue = t.epilogue_us;
    plan.terms.launch = t.launch_us;
    plan.terms.copies = t.copies_us;
    plan.terms.waves = static_cast<double>(divide_up(tiles, plan.schedule.clusters));
    plan.why = fmt::format(
        "{}{}{} tile{} of {}x{} on {} {}{}; predicted for {}: {:.1f} us (launch {:.1f}, math "
        "{:.1f}, loads {:.1f}, DRAM {:.1f}, epilogue {:.1f}, copies {:.1f})",
        plan.swapped ? "swap-AB: " : "",
        plan.normal.batch != plan.problem.batch ? "the batch as one GEMM: " : "", tiles,
        tiles == 1 ? "" : "s", c.tile_m(), c.tile_n, plan.schedule.clusters,
        c.ctas == 2 ? "CTA pair" : "CTA", plan.schedule.clusters == 1 ? "" : "s",
        plan.predicted_for, t.total_us, t.launch_us, t.math_us, t.loads_us, t.dram_us,
        t.epilogue_us, t.copies_us);
  }

  std::int64_t partials_bytes(gemm_plan const&) const override { return 0; }
  std::int64_t max_partials_bytes(int) const override { return 0; }

  void launch_emulated(gemm_plan const& plan, launch_form const& form,
                       emu::options const& options) const override {
    auto const launcher = launcher_of(emu_launchers(), plan);
    block_scaled_config const& c = config_of(plan);
    block_scaled_params const params = make_params(plan, form.problem, form.operands, target::emu);
    emu::options run = options;
    run.pdl = false;
    run.expected_macs = static_cast<double>(params.walk.order.tiles()) * c.tile_m() * c.tile_n *
                        static_cast<double>(params.k_blocks) * c.tile_k();
    launcher(ctas_of(plan), params, run);
  }
  /// Never as a dependent launch: the kernels do not wait for another one's results, which the
  /// stream does.
  int launch_gpu(gemm_plan const& plan, launch_form const& form, cudaStream_t stream,
                 bool) const override {
    auto const launcher = launcher_of(gpu_launchers(), plan);
    return launcher(ctas_of(plan), make_params(plan, form.problem, form.operands, target::gpu),
                    stream, false);
  }

  std::string schedule_text(gemm_plan const& plan) const override {
    int const clusters = plan.schedule.clusters;
    return fmt::format("{} {}{}", clusters, config_of(plan).ctas == 2 ? "CTA pair" : "CTA",
                       clusters == 1 ? "" : "s");
  }
  std::string loads_text(gemm_plan const& plan) const override {
    return fmt::format(
        "loads from L2 into shared memory: {:.1f} of {:.1f} us; the tensor cores need {:.1f}",
        plan.terms.loads, plan.predicted_us, plan.terms.tensor + plan.terms.idle);
  }
  tile_facts tiles(gemm_plan const& plan) const override {
    block_scaled_config const& c = config_of(plan);
    return {c.tile_m() / c.ctas, c.tile_n, c.tile_k(), ctas_of(plan)};
  }
  std::optional<kernel_resources> resources(int kernel) const override {
    return resources_of(config(kernel));
  }
  kernel_memory memory(int kernel) const override { return memory_of(config(kernel)); }
};

}  // namespace

gemm_family const& the_family() {
  static family const f;
  return f;
}

}  // namespace tw::sm100_scaled_family
