// SPDX-License-Identifier: Apache-2.0
// atom_tma_size.cpp  A TMA tile of 128 rows, shared memory for 64.
// expect-error: TW0244_tma_tile_and_shared_memory_differ_in_size
// expect-error: 81924096
// max lines(g++): 11
// max lines(nvcc): 17
#include "tilewright/atom/tma_params.hpp"

using namespace tw;

constexpr layout matrix = "(1024,512):(512,1)"_L;
#ifdef TW_FAIL
constexpr tma_params p = make_tma_params(matrix, "(64,64):(64,1)"_L, tile(128, 64), 16);
#else
constexpr tma_params p = make_tma_params(matrix, "(64,64):(64,1)"_L, tile(64, 64), 16);
static_assert(p.dims == 2);
#endif
