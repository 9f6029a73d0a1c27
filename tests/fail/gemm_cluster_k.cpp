// SPDX-License-Identifier: Apache-2.0
// gemm_cluster_k.cpp  A GEMM configuration whose clusters share K and load for each other too.
// expect-error: [TW0204]
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemm_config config{.tile_n = 64, .cluster_m = 2, .cluster_k = 4};
#else
constexpr gemm_config config{.tile_n = 64, .cluster_m = 1, .cluster_k = 4};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
