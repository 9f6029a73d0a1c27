// SPDX-License-Identifier: Apache-2.0
// sm90_on_gpu.cu  The kernels of sm90_gemm with a record, compiled for the GPU.
#include "tools/command/stages/sm90_on_gpu.hpp"

#include "family/sm90_gemm/params.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"
#include "tools/command/stages/sm90_kernels.hpp"

namespace tw::stages {
namespace {

template <gemm_config C>
cudaError_t launch_recorded(int ctas, gemm_params const& p, stage_log const& log) {
  using kernel = gemm_sm90_kernel<C, stage_profile>;
  return launch<kernel>(ctas, typename kernel::params{p, log}, nullptr);
}

}  // namespace

int launch_on_gpu(recorded_kernel const& kernel, gemm_plan const& plan, launch_form const& form,
                  stage_log const& log) {
  gemm_params const params = make_params(plan, form.problem, form.operands, target::gpu);
  bool const wide = kernel.index == find_recorded(kernel.family)->index;
  return (wide ? &launch_recorded<sm90_wide>
               : &launch_recorded<sm90_narrow>)(plan.family->tiles(plan).ctas, params, log);
}

}  // namespace tw::stages
