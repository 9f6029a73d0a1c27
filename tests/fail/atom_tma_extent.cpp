// SPDX-License-Identifier: Apache-2.0
// atom_tma_extent.cpp  A tensor of more elements along a dimension than a tensor map can say.
// expect-error: TW0304_tma_extent_is_more_than_2_to_the_32
// max lines(g++): 12
// max lines(nvcc): 17
#include "tilewright/atom/tma_params.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout matrix = "(8589934592,64):(64,1)"_L;
#else
constexpr layout matrix = "(4294967296,64):(64,1)"_L;
#endif
[[maybe_unused]] constexpr tma_params p =
    make_tma_params(matrix, "(64,64):(64,1)"_L, tile(64, 64), 16);
