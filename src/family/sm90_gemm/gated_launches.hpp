// SPDX-License-Identifier: Apache-2.0
// gated_launches.hpp  The launches of the family sm90_gemm with a gate before the loads.
#pragma once

#include "family/family_of.hpp"
#include "family/sm90_gemm/gate.hpp"
#include "family/sm90_gemm/kernels.hpp"
#include "family/sm90_gemm/params.hpp"

namespace tw::sm90_gemm_family {

class gated_launches : public family_of<kernels> {
 public:
  bool has_gate(gemm_plan const& plan) const override {
    bool const one_launch = !copies_operands(plan) && !plan.stage_d;
    return one_launch && !plan.swapped && plan.schedule.split_k_tiles == 0 &&
           find_gated(plan) != nullptr;
  }
  void launch_emulated_gated(gemm_plan const& plan, launch_form const& form, gate_form const& gate,
                             emu::options const& options) const override {
    gemm_plan const p = in_bands_of_ranks(plan, gate);
    gated_of(plan).emu(ctas_of(p), params_of(p, form, target::emu),
                       make_gate_params(p, form, gate, target::emu), options);
  }
  int launch_gpu_gated(gemm_plan const& plan, launch_form const& form, gate_form const& gate,
                       cudaStream_t stream, bool early) const override {
    gemm_plan const p = in_bands_of_ranks(plan, gate);
    return gated_of(plan).gpu(ctas_of(p), params_of(p, form, target::gpu),
                              make_gate_params(p, form, gate, target::gpu), stream, early);
  }

 private:
  /// The plan's kernel with a gate in the library; of this build its launchers.
  static gated const* find_gated(gemm_plan const& plan) {
    for (gated const& g : gated_kernels())
      if (g.kernel == plan.instance) return &g;
    return nullptr;
  }
  static gated const& gated_of(gemm_plan const& plan) {
    gated const* const g = find_gated(plan);
    if (g == nullptr || g->emu == nullptr) throw rejected(kernel_not_built(plan));
    return *g;
  }
};

}  // namespace tw::sm90_gemm_family
