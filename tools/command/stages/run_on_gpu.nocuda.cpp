// SPDX-License-Identifier: Apache-2.0
// run_on_gpu.nocuda.cpp  Without CUDA there is no GPU to run on.
#include "tilewright/dispatch/gemm.hpp"
#include "tools/command/stages/run.hpp"

namespace tw::stages {

run run_on_gpu(request const&) { throw rejected(gpu().why_not); }

}  // namespace tw::stages
