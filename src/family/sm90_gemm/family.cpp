// SPDX-License-Identifier: Apache-2.0
// family.cpp  The family sm90_gemm: warp-specialised GEMM kernels with TMA and wgmma.
#include "family/sm90_gemm/computes.hpp"
#include "family/sm90_gemm/facts.hpp"
#include "family/sm90_gemm/gated_launches.hpp"
#include "family/sm90_gemm/plans.hpp"
#include "family/sm90_gemm/resources.hpp"
#include "family/sm90_gemm/sum_order.hpp"

namespace tw::sm90_gemm_family {
namespace {

class family final : public gated_launches {
  kernel_facts facts_of(gemm_config const& c) const override { return tw::facts_of(c); }
  bool computes_by(gemm_config const& c, gemm_problem const& q) const override {
    return tw::computes(c, q);
  }
  kernel_resources resources_of(gemm_config const& c) const override {
    return sm90_gemm_family::resources_of(c);
  }
  bool takes_groups() const override { return true; }
  bool takes_weights() const override { return true; }
  std::string name(int kernel, plan_schedule const& s) const override {
    instance const& i = instances()[static_cast<std::size_t>(kernel)];
    return i.name_with(s.tile_cols == 0 ? i.config.tile_n : launched(i.config, s.tile_cols).tile_n);
  }
  std::string tuning_text(int kernel) const override {
    return name(kernel, {}) + " " + std::to_string(config_at(kernel).min_tile_n);
  }
  void add_plans(gemm_plan const& base, device const& dev, std::int64_t workspace_bytes,
                 std::vector<gemm_plan>& plans) const override {
    if (dev.compute_capability != 90) return;  // machine code for sm_90a
    // Copies of operands that TMA cannot address know nothing of groups: dispatch/plan/plan.cpp
    // refuses.
    // If groups divide K, an operand of 8 or 32 bits is one matrix, transposed as it is.
    bool const transposes = base.normal.groups && base.normal.groups->axis == group_axis::k &&
                            size_bits(base.normal.a.type) != 16;
    if (base.normal.groups && !transposes && (base.repitch.a || base.repitch.b)) return;
    for (int kernel = 0; kernel < kernel_count(); ++kernel) {
      if (!computes_by(config_at(kernel), base.normal)) continue;
      gemm_plan plan = base;
      plan.family = this;
      plan.instance = kernel;
      plan.built = built(kernel);
      add_schedules(plan, dev, workspace_bytes, plans);
    }
  }
  double predicted_us(gemm_plan const& plan, device const& dev) const override {
    return cost_of(plan, dev).total_us;
  }
  void finish(gemm_plan& plan, device const& dev) const override {
    finish_plan(plan, ctas_of(plan), dev);
  }
  std::int64_t partials_bytes(gemm_plan const& plan) const override {
    return tw::partials_bytes(plan);
  }
  std::int64_t max_partials_bytes(int sms) const override { return tw::max_partials_bytes(sms); }
  gemm_params params_of(gemm_plan const& plan, launch_form const& form, target t) const override {
    return make_params(plan, form.problem, form.operands, t);
  }
  gemm_config launched_config(gemm_plan const& plan) const override { return launched(plan); }
  int ctas_of(gemm_plan const& plan) const override {
    return plan.schedule.clusters * config_of(plan).cluster();
  }
  double macs_of(gemm_plan const& plan, gemm_params const& p) const override {
    gemm_config const c = launched(plan);
    return static_cast<double>(p.walk.order.tiles()) * c.cluster_m * c.cluster_n * c.tile_m *
           c.tile_n * static_cast<double>(p.work.k_tiles) * c.tile_k();
  }
  tile_facts tile_of(gemm_config const& c) const override {
    return {c.tile_m, c.tile_n, c.tile_k()};
  }
  std::vector<std::string> roles_of(gemm_config const& c) const override {
    return math_warpgroups(c.consumers());
  }
  std::string schedule_text(gemm_plan const& plan) const override {
    return tw::schedule_text(plan.schedule);
  }
  sum_order order_of_sums(gemm_plan const& plan, device const&) const override {
    return sum_order_of(plan);
  }
};

}  // namespace

gemm_family const& the_family() {
  static family const f;
  return f;
}

}  // namespace tw::sm90_gemm_family
