// SPDX-License-Identifier: Apache-2.0
// atom_copy_tma.cpp  A TMA box of 512 rows.
// expect-error: TW0246_tma_box_has_more_than_256_elements_along_a_mode
// expect-error: 512000256
// max lines(g++): 11
// max lines(nvcc): 17
#include "tilewright/atom/tma_params.hpp"

using namespace tw;

constexpr layout matrix = "(4096,512):(512,1)"_L;
#ifdef TW_FAIL
constexpr tma_params p = make_tma_params(matrix, "(512,64):(64,1)"_L, tile(512, 64), 16);
#else
constexpr tma_params p = make_tma_params(matrix, "(256,64):(64,1)"_L, tile(256, 64), 16);
static_assert(p.dims == 2);
#endif
