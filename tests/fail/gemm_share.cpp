// SPDX-License-Identifier: Apache-2.0
// gemm_share.cpp  A GEMM configuration whose CTAs would load part of a swizzle span.
// expect-error: [TW0209]
// max lines(g++): 19
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemm_config config{.b = {.major = operand_major::mn}, .tile_n = 160};
#else
constexpr gemm_config config{.b = {.major = operand_major::mn}, .tile_n = 192};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
