// SPDX-License-Identifier: Apache-2.0
// gemm_tile_k.cpp  A GEMM configuration whose tile_k the kernel cannot run.
// expect-error: [TW0204]
#include "tilewright/kernel/gemm_sm90.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemm_config config{.tile_k = 32};
#else
constexpr gemm_config config{.tile_k = 64};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
