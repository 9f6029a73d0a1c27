// SPDX-License-Identifier: Apache-2.0
// family.cpp  The family sm80_gemm: GEMM kernels with cp.async, ldmatrix and mma.sync, for compute
//             capability 8.0 and later GPUs.
#include <fmt/format.h>

#include "family/extra_work.hpp"
#include "family/sm80_gemm/computes.hpp"
#include "family/sm80_gemm/cost.hpp"
#include "family/sm80_gemm/kernels.hpp"
#include "family/sm80_gemm/params.hpp"
#include "family/sm80_gemm/resources.hpp"
#include "family/sm80_gemm/sum_order.hpp"
#include "family/tile_order.hpp"
#include "family/tiled_family.hpp"

namespace tw::sm80_gemm_family {

namespace {

class family final : public tiled_family<kernels> {
  kernel_facts facts_of(sm80_config const& c) const override {
    kernel_facts f;
    f.ab = c.ab, f.d = c.d, f.a = c.a_major(), f.b = c.b_major();
    f.d_order = order::row_major;
    f.epilogue = c.operands();
    f.precision.f16_sums = c.f16_sums;
    f.m = {1, 2 * c.tile_m + 40}, f.k = {1, 300};
    f.n = c.gated() ? value_range{16, 2 * c.tile_n + 48, 16} : value_range{1, 2 * c.tile_n + 40};
    return f;
  }
  bool runs_on(device const& dev) const override { return dev.compute_capability >= 80; }
  bool computes_by(sm80_config const& c, gemm_problem const& q) const override {
    return sm80_gemm_family::computes(c, q);
  }
  kernel_resources resources_of(sm80_config const& c) const override {
    return sm80_gemm_family::resources_of(c);
  }
  std::int64_t tiles_of(sm80_config const& c, gemm_problem const& q) const override {
    return divide_up(q.m, c.tile_m) * divide_up(q.n, c.tile_n) * q.batch;
  }
  std::int64_t resident(sm80_config const& c, device const& dev) const override {
    return std::int64_t{dev.sm_count} * ctas_per_sm(c, dev);
  }
  /// A CTA for each tile.
  std::int64_t clusters_of(sm80_config const&, std::int64_t tiles, device const&) const override {
    return tiles;
  }
  predicted_times times_of(gemm_plan const& plan, device const& dev) const override {
    return predict(plan.normal, config_of(plan), dev, extra_work_of(plan).copied_bytes);
  }
  std::string work_text(gemm_plan const& plan, predicted_times const&,
                        device const& dev) const override {
    sm80_config const& c = config_of(plan);
    return fmt::format("{} of {}x{} by cp.async and mma.sync, {} at a time",
                       counted(plan.schedule.clusters, "tile"), c.tile_m, c.tile_n,
                       resident(c, dev));
  }
  void choose_raster(gemm_plan& plan, device const& dev) const override {
    sm80_config const& c = config_of(plan);
    choose_tile_order(plan, order_of(plan), {c.tile_m, c.tile_n, size_bits(c.ab)},
                      static_cast<int>(resident(c, dev)), dev);
  }
  tile_facts tile_of(sm80_config const& c) const override { return {c.tile_m, c.tile_n, c.tile_k}; }
  sm80_params params_of(gemm_plan const& plan, launch_form const& form, target) const override {
    return make_params(plan, form.problem, form.operands);
  }
  /// The kernels do not wait for another launch's results, which the stream does.
  bool may_start_early() const override { return false; }
  std::vector<std::string> roles_of(sm80_config const& c) const override {
    return math_warpgroups(c.threads() / warpgroup_threads);
  }
  std::string loads_text(gemm_plan const& plan) const override {
    return shared_memory_loads_text(plan, " by cp.async");
  }
  sum_order order_of_sums(gemm_plan const& plan, device const& dev) const override {
    return sum_order_of(config_of(plan), dev);
  }
};

}  // namespace

gemm_family const& the_family() {
  static family const f;
  return f;
}

}  // namespace tw::sm80_gemm_family
