// SPDX-License-Identifier: Apache-2.0
// family.cpp  The family sm90_gemm: warp-specialised GEMM kernels with TMA and wgmma.
#include <fmt/format.h>

#include <algorithm>

#include "family/launcher_of.hpp"
#include "family/sm90_gemm/computes.hpp"
#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/early_start.hpp"
#include "family/sm90_gemm/equal_groups.hpp"
#include "family/sm90_gemm/launchers.hpp"
#include "family/sm90_gemm/params.hpp"
#include "family/sm90_gemm/resources.hpp"
#include "family/sm90_gemm/schedules.hpp"
#include "family/sm90_gemm/sum_order.hpp"
#include "family/sm90_gemm/terms.hpp"
#include "family/workspace.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/family/family.hpp"

namespace tw::sm90_gemm_family {

namespace {

gemm_config const& config(int kernel) {
  return instances()[static_cast<std::size_t>(kernel)].config;
}

/// The problem with the leading dimensions that the kernel loads with, and what TMA cannot address.
gemm_problem as_loaded(gemm_plan const& plan, odd_matrices& odd) {
  gemm_problem q = plan.normal;
  auto const copy = [&](matrix_desc& m, extents e) {
    padded const target = padded_copy(m, e, q.batch);
    m.pitch_elems = target.pitch_elems;
    odd.copied_bytes += static_cast<double>(target.bytes);
  };
  odd.d = plan.direct_d;
  if (plan.repitch_a) copy(q.a, extents_of_a(q));
  if (plan.repitch_b) copy(q.b, extents_of_b(q));
  odd.transposed_a = plan.from_a && plan.from_a->ord != q.a.ord;
  odd.transposed_b = plan.from_b && plan.from_b->ord != q.b.ord;
  return q;
}

cost cost_of(gemm_plan const& plan, device const& dev) {
  odd_matrices odd;
  gemm_problem const loaded = as_loaded(plan, odd);
  return predict(equal_groups(loaded), launched(plan), tile_split_of(plan), dev, odd);
}

int ctas_of(gemm_plan const& plan) { return plan.schedule.clusters * config_of(plan).cluster(); }

std::string why(gemm_plan const& p, cost const& t, device const& dev) {
  gemm_config const c = launched(p);
  tile_split const s = tile_split_of(p);
  std::string text = p.swapped ? "swap-AB: " : "";
  if (p.normal.batch != p.problem.batch) text += "the batch as one GEMM: ";
  text += fmt::format("{} cluster tile{} of {}x{} on {} cluster{}", s.tiles,
                      s.tiles == 1 ? "" : "s", c.tile_m * c.cluster_m, c.tile_n * c.cluster_n,
                      s.clusters, s.clusters == 1 ? "" : "s");
  if (s.split_k_tiles > 0)
    text += fmt::format(", {} of them split along K among {}", s.split_k_tiles, s.split_k_clusters);
  if (p.normal.groups) {
    gemm_plan one = p;  // one group has all
    one.normal.groups->count = 1, one.normal.groups->expected_size = 0;
    if (one.normal.groups->slots()) one.normal.groups->form = group_form::ends;
    group_desc const& g = *p.normal.groups;
    text += fmt::format(
        ", {} groups of {} {} (predicted for {} of {} each; {:.1f} us if one has all)", g.count,
        g.axis == group_axis::m   ? "rows"
        : g.axis == group_axis::n ? "columns"
                                  : "K",
        g.slots() ? "in slots" : "in all", g.count, expected_size_of(p.normal),
        cost_of(one, dev).total_us);
  }
  if (c.a_in_registers()) text += fmt::format(", {} read into registers", p.swapped ? "B" : "A");
  if (c.promote_k() > 0)
    text += fmt::format(", sums promoted every {} of K{}, {:.0f} % of the math", c.promote_k(),
                        c.scaled() ? " with their scales" : "",
                        100 * promotion_share_of(*dev.model, p.normal, c));
  return text +
         fmt::format(
             ", {} in bands of {}; predicted for {}: {:.1f} us (launch {:.1f}, math {:.1f}, "
             "loads {:.1f}, DRAM {:.1f}, epilogue {:.1f}, reduction of split-K parts {:.1f}, "
             "copies {:.1f})",
             order_names[static_cast<int>(p.schedule.raster)], p.schedule.band, p.predicted_for,
             t.total_us, p.terms.launch, t.math_us, t.loads_us, t.dram_us, t.epilogue_us,
             t.split_k_us, t.copies_us);
}

class family final : public gemm_family {
 public:
  std::string_view id() const override { return "sm90_gemm"; }
  int kernel_count() const override { return static_cast<int>(instances().size()); }

  kernel_facts facts(int kernel) const override {
    gemm_config const& c = config(kernel);
    kernel_facts f;
    f.ab = c.a.multiplied, f.d = c.d, f.a = c.a.major, f.b = c.b.major;
    if (c.b.multiplied != c.a.multiplied) f.b_type = c.b.multiplied;
    f.precision = {.promote_k = is_fp8(c.a.multiplied) ? c.promote_k() : gemm_precision{}.promote_k,
                   .f16_sums = c.sums == sum_form::f16};
    f.ld_step = traits_of(c.a.multiplied).k_major_only ? traits_of(c.a.multiplied).chunk() : 1;
    f.scaled = c.scaled();
    f.d_order = c.d_m ? order::col_major : order::row_major;
    f.epilogue = c.operands();
    f.groups = c.ragged;
    if (c.grouped()) f.ld_step = traits_of(c.a.multiplied).chunk();  // no copies
    f.m = {1, 400}, f.k = {1, 300};
    f.n = c.gated() ? value_range{16, 592, 16} : value_range{1, 600};
    if (c.cluster_k > 1) {  // planned for one wave of tiles with long K alone
      f.m = f.n = {1, 120};
      int const least_k = least_part_blocks * c.tile_k() * c.cluster_k;
      f.k = {least_k - 60, least_k + 300};
      f.device_sms = known_device(f.device).sm_count;
    }
    return f;
  }

  bool takes_groups() const override { return true; }
  bool built(int kernel) const override {
    return emu_launchers()[static_cast<std::size_t>(kernel)] != nullptr;
  }
  std::string name(int kernel, plan_schedule const& s) const override {
    return instances()[static_cast<std::size_t>(kernel)].name(
        launched(config(kernel), s.tile_cols == 0 ? config(kernel).tile_n : s.tile_cols).tile_n);
  }
  std::string tuning_text(int kernel) const override {
    return fmt::format("{} {}", name(kernel, {}), config(kernel).min_tile_n);
  }

  bool computes(gemm_problem const& q) const override {
    return std::ranges::any_of(instances(),
                               [&](instance const& i) { return tw::computes(i.config, q); });
  }

  void add_plans(gemm_plan const& base, device const& dev, std::int64_t workspace_bytes,
                 std::vector<gemm_plan>& plans) const override {
    if (dev.compute_capability != 90) return;  // machine code for sm_90a
    odd_matrices odd;
    gemm_problem const loaded = as_loaded(base, odd);
    gemm_problem const& q = base.normal;
    // Copies of operands that TMA cannot address know nothing of groups: dispatch/plan.cpp refuses.
    if (q.groups && (base.repitch_a || base.repitch_b)) return;
    gemm_problem const model = equal_groups(loaded);
    for (int kernel = 0; kernel < kernel_count(); ++kernel) {
      if (!tw::computes(config(kernel), q)) continue;
      gemm_plan plan = base;
      plan.family = this;
      plan.instance = kernel;
      plan.built = built(kernel);
      for (int const cols : tile_cols_of(config(kernel), model.n)) {
        gemm_config const c = launched(config(kernel), cols);
        for (tile_split const& s : tile_splits(q, c, dev)) {
          plan.schedule = {.clusters = s.clusters,
                           .tile_cols = cols,
                           .split_k_tiles = s.split_k_tiles,
                           .split_k_clusters = s.split_k_clusters};
          plan.kernel = name(kernel, plan.schedule);
          // Sharing is a choice; copies may not be one: ranked() of dispatch/plan.cpp decides.
          if (s.split_k_tiles > 0 && (workspace_of(plan).bytes > workspace_bytes ||
                                      counter_bytes(q, c, s) > gemm_workspace_zeros))
            continue;
          plan.predicted_us = predict(model, c, s, dev, odd).total_us;
          plans.push_back(plan);
        }
      }
    }
  }

  double predicted_us(gemm_plan const& plan, device const& dev) const override {
    return cost_of(plan, dev).total_us;
  }

  void finish(gemm_plan& plan, device const& dev) const override {
    cost const t = cost_of(plan, dev);
    tile_split const s = tile_split_of(plan);
    choose_raster(plan, dev);
    gemm_problem const q = equal_groups(plan.normal);
    plan.schedule.l2 = l2_hints_of(launched(plan), ctas_of(plan), q, dev);
    plan.terms = terms_of(q, launched(plan), s, t, dev);
    plan.starts_early = tw::starts_early(plan, s, t, dev);
    plan.why = why(plan, t, dev);
  }

  /// Two places for a part of each cluster (kernel/sm90/fixup.hpp).
  std::int64_t partials_bytes(gemm_plan const& plan) const override {
    gemm_config const& c = config_of(plan);
    if (plan.schedule.split_k_tiles == 0) return 0;
    return std::int64_t{2 * sum_bytes} * plan.schedule.split_k_clusters * c.cluster_m *
           c.cluster_n * c.tile_m * c.tile_n;
  }
  std::int64_t max_partials_bytes(int sm_count) const override {
    std::int64_t max_tile = 0;
    for (instance const& i : instances())
      max_tile = std::max(max_tile, std::int64_t{i.config.tile_m} * i.config.tile_n);
    return 2 * sum_bytes * sm_count * max_tile;
  }

  void launch_emulated(gemm_plan const& plan, launch_form const& form,
                       emu::options const& options) const override {
    auto const launcher = launcher_of(emu_launchers(), plan);
    gemm_params const params = make_params(plan, form.problem, form.operands, target::emu);
    emu::options run = options;
    gemm_config const c = launched(plan);
    run.expected_macs = static_cast<double>(params.walk.order.tiles()) * c.cluster_m * c.cluster_n *
                        c.tile_m * c.tile_n * static_cast<double>(params.work.k_tiles) * c.tile_k();
    launcher(ctas_of(plan), params, run);
  }
  int launch_gpu(gemm_plan const& plan, launch_form const& form, cudaStream_t stream,
                 bool early) const override {
    auto const launcher = launcher_of(gpu_launchers(), plan);
    gemm_params const params = make_params(plan, form.problem, form.operands, target::gpu);
    return launcher(ctas_of(plan), params, stream, early);
  }

  std::string schedule_text(gemm_plan const& plan) const override {
    plan_schedule const& s = plan.schedule;
    std::string text = fmt::format("{} cluster{}", s.clusters, s.clusters == 1 ? "" : "s");
    if (s.split_k_tiles > 0)
      text += fmt::format(", {} tile{} split along K among {}", s.split_k_tiles,
                          s.split_k_tiles == 1 ? "" : "s", s.split_k_clusters);
    return text;
  }
  std::string loads_text(gemm_plan const& plan) const override {
    return fmt::format(
        "loads from L2 into shared memory: {:.1f} of {:.1f} us; the tensor cores "
        "need {:.1f}",
        plan.terms.loads, plan.predicted_us, plan.terms.tensor + plan.terms.idle);
  }
  tile_facts tiles(gemm_plan const& plan) const override {
    gemm_config const c = launched(plan);
    return {c.tile_m, c.tile_n, c.tile_k(), ctas_of(plan)};
  }
  sum_order order_of_sums(gemm_plan const& plan, device const&) const override {
    return sum_order_of(plan);
  }
  std::optional<kernel_resources> resources(int kernel) const override {
    return resources_of(config(kernel));
  }
};

}  // namespace

gemm_family const& the_family() {
  static family const f;
  return f;
}

}  // namespace tw::sm90_gemm_family
