// SPDX-License-Identifier: Apache-2.0
// gemm_narrow_peers.cpp  A GEMM configuration whose launches choose the columns of its tiles, and
//                        whose peers would need the same ones.
// expect-error: [TW0204]
// max lines(g++): 12
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemm_config config{
    .d_m = true, .tile_n = 128, .min_tile_n = 72, .cluster_m = 2, .cluster_n = 1};
#else
constexpr gemm_config config{
    .d_m = true, .tile_n = 128, .min_tile_n = 72, .cluster_m = 1, .cluster_n = 2};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
