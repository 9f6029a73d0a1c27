// SPDX-License-Identifier: Apache-2.0
// sm100_kernels.cpp  The kernel of sm100_gemm with a record, in the emulator.
#include "family/sm100_gemm/instances.hpp"
#include "family/sm100_gemm/params.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm100/gemm.hpp"
#include "tools/command/stages/kernels.hpp"

namespace tw::stages {
namespace {

constexpr sm100_config recorded_sm100_config{.tile_n = 128, .stages = 6};  // 128x128x64, one CTA

void launch_sm100(gemm_plan const& plan, launch_form const& form, stage_log const& log,
                  emu::options const& options) {
  using kernel = gemm_sm100_kernel<recorded_sm100_config, stage_profile>;
  sm100_params const p =
      sm100_gemm_family::make_params(plan, form.problem, form.operands, target::emu);
  launch<kernel>(plan.family->tiles(plan).ctas, typename kernel::params{p, log}, options);
}

}  // namespace

std::vector<recorded_kernel> recorded_sm100() {
  return {{"sm100_gemm",
           "128x128",
           sm100_gemm_family::index_of(recorded_sm100_config),
           {"warp that multiplies", "warp of the epilogue"},
           &launch_sm100}};
}

}  // namespace tw::stages
