// SPDX-License-Identifier: Apache-2.0
// sm90_on_gpu.hpp  The kernels with a record that run_on_gpu() has.
#pragma once

#include "tools/command/stages/kernels.hpp"

namespace tw::stages {

/// Launches the kernel for a plan of it. Returns a cudaError_t as int.
int launch_on_gpu(recorded_kernel const& kernel, gemm_plan const& plan, launch_form const& form,
                  stage_log const& log);

}  // namespace tw::stages
