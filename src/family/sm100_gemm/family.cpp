// SPDX-License-Identifier: Apache-2.0
// family.cpp  The family sm100_gemm: GEMM kernels with TMA, tcgen05.mma and tensor memory, for
//             compute capabilities 10.0 and 10.3.
#include "family/sm100_gemm/computes.hpp"
#include "family/sm100_gemm/cost.hpp"
#include "family/sm100_gemm/kernels.hpp"
#include "family/sm100_gemm/params.hpp"
#include "family/sm100_gemm/resources.hpp"
#include "family/tcgen05_family.hpp"
#include "family/tile_order.hpp"

namespace tw::sm100_gemm_family {

namespace {

class family final : public tcgen05_family<kernels> {
  kernel_facts facts_of(sm100_config const& c) const override {
    kernel_facts f;
    f.ab = c.a.multiplied, f.d = c.d, f.a = c.a.major, f.b = c.b.major;
    if (c.b.multiplied != c.a.multiplied) f.b_type = c.b.multiplied;
    f.scaled = c.block_scales;
    f.d_order = order::row_major;
    f.epilogue = c.operands();
    f.device = "b200";
    f.m = {1, 2 * c.tile_m() + 40};
    f.n = c.gated() ? value_range{16, 2 * c.tile_n + 48, 16} : value_range{1, 2 * c.tile_n + 40};
    f.k = {1, 5 * c.tile_k()};
    return f;
  }
  bool computes_by(sm100_config const& c, gemm_problem const& q) const override {
    return sm100_gemm_family::computes(c, q);
  }
  kernel_resources resources_of(sm100_config const& c) const override {
    return sm100_gemm_family::resources_of(c);
  }
  predicted_times times_of(gemm_plan const& plan, device const& dev) const override {
    return predict(plan.normal, config_of(plan), dev, extra_work_of(plan));
  }
  std::string work_text(gemm_plan const& plan, predicted_times const& t,
                        device const& dev) const override {
    std::string text = tcgen05_family::work_text(plan, t, dev);
    if (config_of(plan).block_scales)
      text +=
          fmt::format(", blocks of {} of K added with their scales in {:.1f} us beside the math",
                      config_of(plan).tile_k(), t.promotion_us);
    return text;
  }
  void choose_raster(gemm_plan& plan, device const& dev) const override {
    sm100_config const& c = config_of(plan);
    choose_tile_order(plan, order_of(plan), {c.tile_m(), c.tile_n, size_bits(c.a.stored)},
                      resident_tcgen05_clusters(c.ctas, dev), dev);
  }
  sm100_params params_of(gemm_plan const& plan, launch_form const& form, target t) const override {
    return make_params(plan, form.problem, form.operands, t);
  }
  /// With cluster launch control a cluster for each tile, most of which are never launched.
  int ctas_of(gemm_plan const& plan) const override {
    sm100_config const& c = config_of(plan);
    return c.dynamic ? static_cast<int>(tiles_of(c, plan.normal)) * c.ctas
                     : tcgen05_family::ctas_of(plan);
  }
  std::vector<std::string> roles_of(sm100_config const&) const override {
    return {"warp that multiplies", "warp of the epilogue"};
  }
};

}  // namespace

gemm_family const& the_family() {
  static family const f;
  return f;
}

}  // namespace tw::sm100_gemm_family
