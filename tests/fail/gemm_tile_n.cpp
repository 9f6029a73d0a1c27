// SPDX-License-Identifier: Apache-2.0
// gemm_tile_n.cpp  A GEMM configuration whose tile_n the kernel cannot run.
// expect-error: [TW0205]
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemm_config config{.tile_n = 272, .cluster_m = 1, .stages = 3};
#else
constexpr gemm_config config{.tile_n = 192, .cluster_m = 1, .stages = 3};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
