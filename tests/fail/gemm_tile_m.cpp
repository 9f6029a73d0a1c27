// SPDX-License-Identifier: Apache-2.0
// gemm_tile_m.cpp  A GEMM configuration whose tile_m the kernel cannot run.
// expect-error: [TW0203]
// max lines(g++): 11
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemm_config config{.tile_m = 160};
#else
constexpr gemm_config config{.tile_m = 128};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
