// SPDX-License-Identifier: Apache-2.0
// gemm_staging.cpp  A GEMM configuration whose ring leaves no room for a staging buffer.
// expect-error: [TW0206]
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemm_config config{.tile_m = 64, .tile_n = 64, .cluster_m = 1, .stages = 14};
#else
constexpr gemm_config config{.tile_m = 64, .tile_n = 64, .cluster_m = 1, .stages = 12};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
