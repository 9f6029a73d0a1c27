// SPDX-License-Identifier: Apache-2.0
// atom_tma_contiguous.cpp  Shared memory contiguous along M, global memory along K.
// expect-error: TW0245_tma_shared_and_global_memory_are_contiguous_along_different_modes
// expect-error: 512000001
// max lines(g++): 13
// max lines(nvcc): 17
#include "tilewright/atom/tma_params.hpp"

using namespace tw;

constexpr layout matrix = "(1024,512):(512,1)"_L;
#ifdef TW_FAIL
constexpr tma_params p = make_tma_params(matrix, "(64,32):(1,64)"_L, tile(64, 32), 16);
#else
constexpr tma_params p = make_tma_params(matrix, "(64,32):(32,1)"_L, tile(64, 32), 16);
static_assert(p.dims == 2);
#endif
