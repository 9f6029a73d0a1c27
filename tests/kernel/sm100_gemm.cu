// SPDX-License-Identifier: Apache-2.0
// sm100_gemm.cu  The Blackwell kernels that sm100_assembly_test.py assembles.
#include "tilewright/kernel/sm100/gemm.hpp"

template __global__ void tw::entry<tw::gemm_sm100<tw::sm100_config{}>>(
    __grid_constant__ tw::sm100_params const);
template __global__ void tw::entry<tw::gemm_sm100<tw::sm100_config{.ctas = 2}>>(
    __grid_constant__ tw::sm100_params const);
