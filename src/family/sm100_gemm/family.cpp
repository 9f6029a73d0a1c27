// SPDX-License-Identifier: Apache-2.0
// family.cpp  The family sm100_gemm: GEMM kernels with TMA, tcgen05.mma and tensor memory, for
//             compute capabilities 10.0 and 10.3.
#include <fmt/format.h>

#include <algorithm>

#include "family/bind.hpp"
#include "family/footprint.hpp"
#include "family/launcher_of.hpp"
#include "family/sm100_gemm/config_of.hpp"
#include "family/sm100_gemm/cost.hpp"
#include "family/sm100_gemm/launchers.hpp"
#include "family/sm100_gemm/params.hpp"
#include "family/sm100_gemm/resources.hpp"
#include "family/tcgen05_memory.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/family/family.hpp"

namespace tw::sm100_gemm_family {

namespace {

constexpr std::int64_t max_tiles = std::int64_t{1} << 30;  // running numbers are ints

sm100_config const& config(int kernel) {
  return instances()[static_cast<std::size_t>(kernel)].config;
}

std::int64_t tiles_of(sm100_config const& c, gemm_problem const& q) {
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
  return predict(q, config_of(plan), dev, extra);
}

/// The panels of the tiles that run at the same time, for the choice of their order.
strips panels_of(gemm_plan const& plan, device const& dev) {
  sm100_config const& c = config_of(plan);
  gemm_problem const& q = plan.normal;
  double const k_bytes = static_cast<double>(q.k) * size_bytes(c.a.stored);
  return {.row_bytes = c.tile_m() * k_bytes,
          .col_bytes = c.tile_n * k_bytes,
          .shared_rows = q.a.batch_stride_elems == 0,
          .shared_cols = q.b.batch_stride_elems == 0,
          .wave = resident_tcgen05_clusters(c.ctas, dev)};
}

/// With cluster launch control a cluster for each tile, most of which are never launched.
int ctas_of(gemm_plan const& plan) {
  sm100_config const& c = config_of(plan);
  std::int64_t const clusters =
      c.dynamic ? tiles_of(c, plan.normal) : std::int64_t{plan.schedule.clusters};
  return static_cast<int>(clusters) * c.ctas;
}

class family final : public gemm_family {
 public:
  std::string_view id() const override { return "sm100_gemm"; }
  int kernel_count() const override { return static_cast<int>(instances().size()); }

  kernel_facts facts(int kernel) const override {
    sm100_config const& c = config(kernel);
    kernel_facts f;
    f.ab = c.a.multiplied, f.d = c.d, f.a = c.a.major, f.b = c.b.major;
    if (c.b.multiplied != c.a.multiplied) f.b_type = c.b.multiplied;
    f.scaled = c.block_scales;
    f.d_order = order::row_major;
    f.epilogue = c.operands();
    f.device = "b200";
    f.m = {1, 2 * c.tile_m() + 40},
    f.n = c.gated() ? value_range{16, 2 * c.tile_n + 48, 16} : value_range{1, 2 * c.tile_n + 40};
    f.k = {1, 5 * c.tile_k()};
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
        instances(), [&](instance const& i) { return sm100_gemm_family::computes(i.config, q); });
  }

  void add_plans(gemm_plan const& base, device const& dev, std::int64_t,
                 std::vector<gemm_plan>& plans) const override {
    // Machine code of sm_100f runs on these two.
    if (dev.compute_capability != 100 && dev.compute_capability != 103) return;
    for (int kernel = 0; kernel < kernel_count(); ++kernel) {
      sm100_config const& c = config(kernel);
      gemm_problem const& q = base.normal;
      std::int64_t const tiles = tiles_of(c, q);
      if (!sm100_gemm_family::computes(c, q) || tiles > max_tiles) continue;
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
    sm100_config const& c = config_of(plan);
    tile_order const best =
        choose_order(order_of(plan), panels_of(plan, dev), c.tile_m(), dev.model->tile_order);
    plan.schedule.raster = best.kind;
    plan.schedule.band = best.band;
    std::int64_t const tiles = tiles_of(c, plan.normal);
    plan.terms = {};
    double const multiplies = t.math_us - t.additions_us;
    plan.terms.tensor = std::min(t.tensor_us, multiplies);
    plan.terms.idle = multiplies - plan.terms.tensor;
    plan.terms.additions = t.additions_us;
    plan.terms.loads = t.loads_us;
    plan.terms.shared_memory = t.shared_memory_us;
    plan.terms.dram = t.dram_us;
    plan.terms.epilogue = t.epilogue_us;
    plan.terms.launch = t.launch_us;
    plan.terms.copies = t.copies_us;
    plan.terms.waves = static_cast<double>(divide_up(tiles, plan.schedule.clusters));
    plan.why = fmt::format(
        "{}{}{} tile{} of {}x{} on {} {}{}{}; predicted for {}: {:.1f} us (launch {:.1f}, math "
        "{:.1f}, loads {:.1f}, DRAM {:.1f}, epilogue {:.1f}, copies {:.1f})",
        plan.swapped ? "swap-AB: " : "",
        plan.normal.batch != plan.problem.batch ? "the batch as one GEMM: " : "", tiles,
        tiles == 1 ? "" : "s", c.tile_m(), c.tile_n, plan.schedule.clusters,
        c.ctas == 2 ? "CTA pair" : "CTA", plan.schedule.clusters == 1 ? "" : "s",
        c.block_scales
            ? fmt::format(
                  ", blocks of {} of K added with their scales in {:.1f} us beside the math",
                  c.tile_k(), t.promotion_us)
            : "",
        plan.predicted_for, t.total_us, t.launch_us, t.math_us, t.loads_us, t.dram_us,
        t.epilogue_us, t.copies_us);
  }

  std::int64_t partials_bytes(gemm_plan const&) const override { return 0; }
  std::int64_t max_partials_bytes(int) const override { return 0; }

  void launch_emulated(gemm_plan const& plan, launch_form const& form,
                       emu::options const& options) const override {
    auto const launcher = launcher_of(emu_launchers(), plan);
    sm100_config const& c = config_of(plan);
    sm100_params const params = make_params(plan, form.problem, form.operands, target::emu);
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
    sm100_config const& c = config_of(plan);
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

}  // namespace tw::sm100_gemm_family
