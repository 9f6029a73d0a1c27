// SPDX-License-Identifier: Apache-2.0
// gemm_stages.cpp  A GEMM configuration whose ring is larger than shared memory.
// expect-error: [TW0206]
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemm_config config{.stages = 5};
#else
constexpr gemm_config config{.stages = 4};
#endif
static_assert(gemm_sm90<config>::smem_bytes > 0);
