// SPDX-License-Identifier: Apache-2.0
// family.cpp  The family sm80_gemm: GEMM kernels with cp.async, ldmatrix and mma.sync, for compute
//             capability 8.0 and later GPUs.
#include <fmt/format.h>

#include <algorithm>

#include "family/bind.hpp"
#include "family/footprint.hpp"
#include "family/launcher_of.hpp"
#include "family/sm80_gemm/config_of.hpp"
#include "family/sm80_gemm/cost.hpp"
#include "family/sm80_gemm/launchers.hpp"
#include "family/sm80_gemm/params.hpp"
#include "family/sm80_gemm/resources.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/family/family.hpp"

namespace tw::sm80_gemm_family {

namespace {

constexpr std::int64_t max_tiles = std::int64_t{1} << 30;  // running numbers are ints

sm80_config const& config(int kernel) {
  return instances()[static_cast<std::size_t>(kernel)].config;
}

std::int64_t tiles_of(sm80_config const& c, gemm_problem const& q) {
  return divide_up(q.m, c.tile_m) * divide_up(q.n, c.tile_n) * q.batch;
}

/// Bytes of the operands that are copied to padded lines first.
double copied_bytes(gemm_plan const& plan) {
  gemm_problem const& q = plan.normal;
  std::int64_t bytes = 0;
  if (plan.repitch_a) bytes += padded_copy(q.a, extents_of_a(q), q.batch).bytes;
  if (plan.repitch_b) bytes += padded_copy(q.b, extents_of_b(q), q.batch).bytes;
  return static_cast<double>(bytes);
}

cost cost_of(gemm_plan const& plan, device const& dev) {
  return predict(plan.normal, config_of(plan), dev, copied_bytes(plan));
}

/// The panels of the tiles that run at the same time, for the choice of their order.
strips panels_of(gemm_plan const& plan, device const& dev) {
  sm80_config const& c = config_of(plan);
  gemm_problem const& q = plan.normal;
  double const k_bytes = static_cast<double>(q.k) * size_bytes(c.ab);
  return {.row_bytes = c.tile_m * k_bytes,
          .col_bytes = c.tile_n * k_bytes,
          .shared_rows = q.a.batch_stride_elems == 0,
          .shared_cols = q.b.batch_stride_elems == 0,
          .wave = dev.sm_count * ctas_per_sm(c, dev)};
}

class family final : public gemm_family {
 public:
  std::string_view id() const override { return "sm80_gemm"; }
  int kernel_count() const override { return static_cast<int>(instances().size()); }

  kernel_facts facts(int kernel) const override {
    sm80_config const& c = config(kernel);
    kernel_facts f;
    f.ab = c.ab, f.d = c.d, f.a = c.a_major(), f.b = c.b_major();
    f.d_order = order::row_major;
    f.epilogue = c.operands();
    f.precision.f16_sums = c.f16_sums;
    f.m = {1, 2 * c.tile_m + 40}, f.k = {1, 300};
    f.n = c.gated() ? value_range{16, 2 * c.tile_n + 48, 16} : value_range{1, 2 * c.tile_n + 40};
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
        instances(), [&](instance const& i) { return sm80_gemm_family::computes(i.config, q); });
  }

  void add_plans(gemm_plan const& base, device const& dev, std::int64_t,
                 std::vector<gemm_plan>& plans) const override {
    if (dev.compute_capability < 80) return;
    for (int kernel = 0; kernel < kernel_count(); ++kernel) {
      sm80_config const& c = config(kernel);
      gemm_problem const& q = base.normal;
      std::int64_t const tiles = tiles_of(c, q);
      if (!sm80_gemm_family::computes(c, q) || tiles > max_tiles) continue;
      gemm_plan& plan = plans.emplace_back(base);
      plan.family = this;
      plan.instance = kernel;
      plan.built = built(kernel);
      plan.kernel = name(kernel, {});
      plan.schedule.clusters = static_cast<int>(tiles);
      plan.predicted_us = cost_of(plan, dev).total_us;
    }
  }

  double predicted_us(gemm_plan const& plan, device const& dev) const override {
    return cost_of(plan, dev).total_us;
  }

  void finish(gemm_plan& plan, device const& dev) const override {
    cost const t = cost_of(plan, dev);
    sm80_config const& c = config_of(plan);
    int const resident = dev.sm_count * ctas_per_sm(c, dev);
    tile_order const best =
        choose_order(order_of(plan), panels_of(plan, dev), c.tile_m, dev.model->tile_order);
    plan.schedule.raster = best.kind;
    plan.schedule.band = best.band;
    plan.terms = {};
    plan.terms.tensor = t.tensor_us;
    plan.terms.idle = t.math_us - t.tensor_us;
    plan.terms.loads = t.loads_us;
    plan.terms.shared_memory = t.shared_memory_us;
    plan.terms.dram = t.dram_us;
    plan.terms.epilogue = t.epilogue_us;
    plan.terms.launch = t.launch_us;
    plan.terms.copies = t.copies_us;
    plan.terms.waves = static_cast<double>(divide_up(plan.schedule.clusters, resident));
    plan.why = fmt::format(
        "{}{}{} tile{} of {}x{} by cp.async and mma.sync, {} at a time; predicted for {}: {:.1f} "
        "us "
        "(launch {:.1f}, math {:.1f}, loads {:.1f}, DRAM {:.1f}, epilogue {:.1f}, copies {:.1f})",
        plan.swapped ? "swap-AB: " : "",
        plan.normal.batch != plan.problem.batch ? "the batch as one GEMM: " : "",
        plan.schedule.clusters, plan.schedule.clusters == 1 ? "" : "s", c.tile_m, c.tile_n,
        resident, plan.predicted_for, t.total_us, t.launch_us, t.math_us, t.loads_us, t.dram_us,
        t.epilogue_us, t.copies_us);
  }

  std::int64_t partials_bytes(gemm_plan const&) const override { return 0; }
  std::int64_t max_partials_bytes(int) const override { return 0; }

  void launch_emulated(gemm_plan const& plan, launch_form const& form,
                       emu::options const& options) const override {
    auto const launcher = launcher_of(emu_launchers(), plan);
    emu::options run = options;
    run.pdl = false;
    launcher(plan.schedule.clusters, make_params(plan, form.problem, form.operands), run);
  }
  /// Never as a dependent launch: the kernels do not wait for another one's results, which the
  /// stream does.
  int launch_gpu(gemm_plan const& plan, launch_form const& form, cudaStream_t stream,
                 bool) const override {
    auto const launcher = launcher_of(gpu_launchers(), plan);
    return launcher(plan.schedule.clusters, make_params(plan, form.problem, form.operands), stream,
                    false);
  }

  std::string schedule_text(gemm_plan const& plan) const override {
    int const ctas = plan.schedule.clusters;
    return fmt::format("{} CTA{}", ctas, ctas == 1 ? "" : "s");
  }
  std::string loads_text(gemm_plan const& plan) const override {
    return fmt::format(
        "loads from L2 into shared memory by cp.async: {:.1f} of {:.1f} us; the tensor cores need "
        "{:.1f}",
        plan.terms.loads, plan.predicted_us, plan.terms.tensor + plan.terms.idle);
  }
  tile_facts tiles(gemm_plan const& plan) const override {
    sm80_config const& c = config_of(plan);
    return {c.tile_m, c.tile_n, c.tile_k, plan.schedule.clusters};
  }
  /// On Ampere and Ada GPUs these kernels are all there are; on Hopper another order is served.
  sum_order order_of_sums(gemm_plan const& plan, device const& dev) const override {
    sm80_config const& c = config_of(plan);
    sum_order order{fmt::format("mma.sync of {} elements of K, one after another, in {}", c.mma_k,
                                c.f16_sums ? "f16" : "float32"),
                    ""};
    if (c.f16_sums)
      order.why_not = "sums in f16; its kernels do not serve every M and N";
    else if (c.mma_k != 16)
      order.why_not = "the other kernels of the family add 16 elements of K at a time";
    else if (dev.compute_capability == 90)
      order.why_not = "on this GPU reproducible GEMMs have the order of wgmma";
    else if (dev.compute_capability > 90)
      order.why_not = "this order is promised for Ampere and Ada GPUs alone";
    return order;
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

}  // namespace tw::sm80_gemm_family
