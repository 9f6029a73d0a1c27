// SPDX-License-Identifier: Apache-2.0
// block_scaled.cu  The block-scaled kernels that block_scaled_assembly_test.py assembles.
#include "examples/blackwell/nvfp4_gemm.hpp"

template __global__ void tw::entry<nvfp4_gemm>(__grid_constant__ nvfp4_gemm::params const);
