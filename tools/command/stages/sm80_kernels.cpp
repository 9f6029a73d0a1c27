// SPDX-License-Identifier: Apache-2.0
// sm80_kernels.cpp  The kernel of sm80_gemm with a record, in the emulator.
#include "family/sm80_gemm/instances.hpp"
#include "family/sm80_gemm/params.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm80/gemm.hpp"
#include "tools/command/stages/kernels.hpp"

namespace tw::stages {
namespace {

constexpr sm80_config recorded_sm80_config{};  // 128x128x32, four warps, four stages

void launch_sm80(gemm_plan const& plan, launch_form const& form, stage_log const& log,
                 emu::options const& options) {
  using kernel = gemm_sm80_kernel<recorded_sm80_config, stage_profile>;
  sm80_params const p = sm80_gemm_family::make_params(plan, form.problem, form.operands);
  launch<kernel>(plan.family->tiles(plan).ctas, typename kernel::params{p, log}, options);
}

}  // namespace

std::vector<recorded_kernel> recorded_sm80() {
  return {{"sm80_gemm", "128x128", sm80_gemm_family::index_of(recorded_sm80_config),
           math_warpgroups(recorded_sm80_config.threads() / warpgroup_threads), &launch_sm80}};
}

}  // namespace tw::stages
