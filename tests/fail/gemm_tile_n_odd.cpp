// SPDX-License-Identifier: Apache-2.0
// gemm_tile_n_odd.cpp  A tile_n that no box divides: rules are reported, no division by zero.
// expect-error: [TW0205]
// expect-error: [TW0209]
// max lines(g++): 28
// max lines(nvcc): 17
// expect-no: % 0
// expect-no: division by zero
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemm_config config{.d_m = true, .tile_n = 100, .cluster_m = 1, .stages = 3};
#else
constexpr gemm_config config{.d_m = true, .tile_n = 96, .cluster_m = 1, .stages = 3};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
