// SPDX-License-Identifier: Apache-2.0
// atom_tma_inner.cpp  A TMA box with rows of 8 bytes.
// expect-error: TW0247_tma_box_row_is_not_16_bytes_or_leaves_the_swizzle_span
// expect-error: 8000016
// max lines(g++): 11
// max lines(nvcc): 17
#include "tilewright/atom/tma_params.hpp"

using namespace tw;

constexpr layout matrix = "(1024,512):(512,1)"_L;
#ifdef TW_FAIL
constexpr tma_params p = make_tma_params(matrix, "(64,4):(4,1)"_L, tile(64, 4), 16);
#else
constexpr tma_params p = make_tma_params(matrix, "(64,8):(8,1)"_L, tile(64, 8), 16);
static_assert(p.dims == 2);
#endif
