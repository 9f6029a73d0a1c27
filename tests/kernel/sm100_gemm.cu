// SPDX-License-Identifier: Apache-2.0
// sm100_gemm.cu  The Blackwell kernels that sm100_assembly_test.py assembles.
#include "ladder/blackwell/cta_pair.hpp"
#include "ladder/blackwell/fp8.hpp"
#include "ladder/blackwell/one_cta.hpp"
#include "tilewright/kernel/sm100/gemm.hpp"

template __global__ void tw::entry<tw::gemm_sm100<tw::sm100_config{
    .a = {.major = tw::operand_major::mn}, .b = {.major = tw::operand_major::mn}}>>(
    __grid_constant__ tw::sm100_params const);
template __global__ void tw::entry<tw::gemm_sm100<tw::sm100_config{.a = {tw::elem::e4m3},
                                                                   .b = {tw::elem::e4m3},
                                                                   .ctas = 2,
                                                                   .epilogue = tw::epilogue_id::ops,
                                                                   .dynamic = true}>>(
    __grid_constant__ tw::sm100_params const);
template __global__ void
tw::entry<tw::gemm_sm100<tw::sm100_config{.a = {tw::elem::e4m3},
                                          .b = {tw::elem::e4m3},
                                          .d = tw::elem::e4m3,
                                          .stages = 6,
                                          .epilogue = tw::epilogue_id::quantize,
                                          .block_scales = true}>>(
    __grid_constant__ tw::sm100_params const);
template __global__ void tw::entry<tw::gemm_sm100<tw::sm100_config{
    .a = {tw::elem::e4m3}, .b = {tw::elem::e4m3}, .ctas = 2, .stages = 8, .block_scales = true}>>(
    __grid_constant__ tw::sm100_params const);
template __global__ void tw::entry<ladder::rung_13>(
    __grid_constant__ ladder::rung_13::params const);
template __global__ void tw::entry<ladder::rung_14>(
    __grid_constant__ ladder::rung_14::params const);
template __global__ void tw::entry<blackwell::fp8_gemm>(
    __grid_constant__ blackwell::fp8_gemm::params const);
