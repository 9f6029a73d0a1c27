// SPDX-License-Identifier: Apache-2.0
// family.cpp  The family sm100_scaled: GEMM kernels for MXFP8, MXFP4 and NVFP4 operands, whose
//             scales tcgen05.mma multiplies, for compute capabilities 10.0 and 10.3.
#include "family/sm100_scaled/computes.hpp"
#include "family/sm100_scaled/cost.hpp"
#include "family/sm100_scaled/kernels.hpp"
#include "family/sm100_scaled/params.hpp"
#include "family/sm100_scaled/resources.hpp"
#include "family/tcgen05_family.hpp"
#include "family/tile_order.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::sm100_scaled_family {

namespace {

class family final : public tcgen05_family<kernels> {
  kernel_facts facts_of(block_scaled_config const& c) const override {
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
  bool computes_by(block_scaled_config const& c, gemm_problem const& q) const override {
    return sm100_scaled_family::computes(c, q);
  }
  kernel_resources resources_of(block_scaled_config const& c) const override {
    return sm100_scaled_family::resources_of(c);
  }
  predicted_times times_of(gemm_plan const& plan, device const& dev) const override {
    return predict(plan.normal, config_of(plan), dev, extra_work_of(plan));
  }
  void choose_raster(gemm_plan& plan, device const& dev) const override {
    block_scaled_config const& c = config_of(plan);
    choose_tile_order(plan, order_of(plan), {c.tile_m(), c.tile_n, size_bits(c.a)},
                      resident_tcgen05_clusters(c.ctas, dev), dev);
  }
  block_scaled_params params_of(gemm_plan const& plan, launch_form const& form,
                                target t) const override {
    return make_params(plan, form.problem, form.operands, t);
  }
};

}  // namespace

gemm_family const& the_family() {
  static family const f;
  return f;
}

}  // namespace tw::sm100_scaled_family
