// SPDX-License-Identifier: Apache-2.0
// block_scaled.cu  The block-scaled kernels that block_scaled_assembly_test.py assembles.
#include "ladder/blackwell/nvfp4_gemm.hpp"
#include "tilewright/kernel/sm100/block_scaled.hpp"

using mxfp8 = tw::block_scaled_sm100<tw::block_scaled_config{
    .a = tw::elem::e4m3, .b = tw::elem::e4m3, .scale = tw::elem::ue8m0, .block = 32}>;
using mxfp4 = tw::block_scaled_sm100<tw::block_scaled_config{
    .scale = tw::elem::ue8m0, .block = 32, .d = tw::elem::f32, .ctas = 2, .tile_n = 192}>;
using nvfp4 = tw::block_scaled_sm100<tw::block_scaled_config{.ctas = 2, .tile_n = 256}>;

using batched_f16 = tw::block_scaled_sm100<tw::block_scaled_config{
    .d = tw::elem::f16, .ctas = 2, .tile_n = 192, .stages = 5}>;

template __global__ void tw::entry<batched_f16>(__grid_constant__ tw::block_scaled_params const);
template __global__ void tw::entry<mxfp8>(__grid_constant__ tw::block_scaled_params const);
template __global__ void tw::entry<mxfp4>(__grid_constant__ tw::block_scaled_params const);
template __global__ void tw::entry<nvfp4>(__grid_constant__ tw::block_scaled_params const);
template __global__ void tw::entry<nvfp4_gemm>(__grid_constant__ nvfp4_gemm::params const);
