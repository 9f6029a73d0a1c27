// SPDX-License-Identifier: Apache-2.0
// sm80_stages.cpp  An Ampere GEMM whose stages are larger than the shared memory of sm_80.
// expect-error: [TW0226]
#include "tilewright/kernel/sm80/gemm.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr sm80_config config{.tile_n = 256, .tile_k = 64, .stages = 4};
#else
constexpr sm80_config config{.tile_n = 256, .tile_k = 64, .stages = 3};
#endif
static_assert(gemm_sm80<config>::smem_bytes > 0);
