// SPDX-License-Identifier: Apache-2.0
// sm90_kernels.cpp  The kernels of sm90_gemm with a record, in the emulator.
#include "tools/command/stages/sm90_kernels.hpp"

#include "family/sm90_gemm/instances.hpp"
#include "family/sm90_gemm/params.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"
#include "tools/command/stages/kernels.hpp"

namespace tw::stages {
namespace {

template <gemm_config C>
void launch_sm90(gemm_plan const& plan, launch_form const& form, stage_log const& log,
                 emu::options const& options) {
  using kernel = gemm_sm90_kernel<C, stage_profile>;
  gemm_params const p = make_params(plan, form.problem, form.operands, target::emu);
  launch<kernel>(plan.family->tiles(plan).ctas, typename kernel::params{p, log}, options);
}

template <gemm_config C>
recorded_kernel sm90_kernel(std::string_view tile) {
  return {
      "sm90_gemm",     tile, sm90_gemm_family::index_of(C), math_warpgroups(C.math_warpgroups()),
      &launch_sm90<C>, true};
}

}  // namespace

std::vector<recorded_kernel> recorded_sm90() {
  return {sm90_kernel<sm90_wide>("128x256"), sm90_kernel<sm90_narrow>("128x128")};
}

}  // namespace tw::stages
