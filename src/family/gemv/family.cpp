// SPDX-License-Identifier: Apache-2.0
// family.cpp  The family gemv: GEMMs with up to 16 columns, as run, on CUDA cores or mma.sync.
#include <fmt/format.h>

#include "family/gemv/config_of.hpp"
#include "family/gemv/cost.hpp"
#include "family/gemv/kernels.hpp"
#include "family/gemv/params.hpp"
#include "family/tiled_family.hpp"

namespace tw::gemv_family {

namespace {

class family final : public tiled_family<kernels> {
  kernel_facts facts_of(gemv_config const& c) const override {
    kernel_facts f;
    f.ab = c.ab, f.d = c.d;
    f.m = {1, 400}, f.n = {1, c.cols};
    f.k = {c.piece(), 300 * c.piece(), c.piece()};
    f.ld_step = c.piece();
    return f;
  }
  /// Machine code for sm_90a.
  bool runs_on(device const& dev) const override { return dev.compute_capability == 90; }
  bool computes_by(gemv_config const& c, gemm_problem const& q) const override {
    return gemv_family::computes(c, q);
  }
  void add_plans(gemm_plan const& base, device const& dev, std::int64_t workspace_bytes,
                 std::vector<gemm_plan>& plans) const override {
    if (base.repitch.a || base.repitch.b) return;
    auto const others = static_cast<std::ptrdiff_t>(plans.size());
    tiled_family::add_plans(base, dev, workspace_bytes, plans);
    // Every D is written by plain stores: the hint that says so does not apply.
    for (auto plan = plans.begin() + others; plan != plans.end(); ++plan)
      if (plan->direct_d) plan->hints.pop_back(), plan->direct_d = false;
  }
  std::int64_t tiles_of(gemv_config const& c, gemm_problem const& q) const override {
    return groups_of(c, q);
  }
  std::int64_t resident(gemv_config const& c, device const& dev) const override {
    return std::int64_t{c.ctas_per_sm} * dev.sm_count;
  }
  predicted_times times_of(gemm_plan const& plan, device const& dev) const override {
    return predict(plan.normal, config_of(plan), plan.schedule.clusters, dev);
  }
  bool starts_early(predicted_times const& t, device const& dev) const override {
    return t.total_us < dev.model->early_start.max_gemv_us;
  }
  std::string work_text(gemm_plan const& plan, predicted_times const&,
                        device const&) const override {
    gemv_config const& c = config_of(plan);
    return fmt::format("few columns: {} groups of {} rows on {} CTAs, whose {} warps share K",
                       groups_of(c, plan.normal), c.cta_rows(), plan.schedule.clusters, c.warps_k);
  }
  std::string parts_of(predicted_times const& t) const override {
    return fmt::format("loads {:.1f}, DRAM {:.1f}", t.loads_us, t.dram_us);
  }
  tile_facts tile_of(gemv_config const& c) const override {
    return {c.cta_rows(), c.cols, c.iteration_pieces() * c.piece()};
  }
  gemv_params params_of(gemm_plan const& plan, launch_form const& form, target) const override {
    return make_params(plan, form.problem, form.operands);
  }
  std::string loads_text(gemm_plan const& plan) const override {
    return fmt::format(
        "loads: {:.1f} of {:.1f} us for iterations of a CTA's loop that wait for each other",
        plan.terms.loads, plan.predicted_us);
  }
  sum_order order_of_sums(gemm_plan const& plan, device const&) const override {
    gemv_config const& c = config_of(plan);
    return {fmt::format("{} warps that share K, {}, then their sums", c.warps_k,
                        c.by_mma() ? "mma.sync of 16 elements of a permuted K"
                                   : "multiply-adds of each lane and a sum over the lanes"),
            "warps share K in a way of these kernels alone, which larger M and N do not have"};
  }
  kernel_resources resources_of(gemv_config const& c) const override {
    std::int64_t const sums = 2 * c.warps_m * c.warps_k * c.cols * (c.rows + 4);  // gemv<C>::smem
    return {.cta = {.threads = c.threads(), .registers = 0, .smem_bytes = 4 * sums}};
  }
};

}  // namespace

gemm_family const& the_family() {
  static family const f;
  return f;
}

}  // namespace tw::gemv_family
