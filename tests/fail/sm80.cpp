// SPDX-License-Identifier: Apache-2.0
// sm80.cpp  Refusals of configurations of Ampere's kernels.
#include "tilewright/kernel/sm80/gemm.hpp"

using namespace tw;

// case sm80_stages
// An Ampere GEMM whose stages are larger than the shared memory of sm_80.
// expect-error: [TW0226]
namespace sm80_stages {
#ifdef TW_FAIL
constexpr sm80_config config{.tile_n = 256, .tile_k = 64, .stages = 4};
#else
constexpr sm80_config config{.tile_n = 256, .tile_k = 64, .stages = 3};
#endif
static_assert(gemm_sm80<config>::smem_bytes > 0);
}  // namespace sm80_stages
