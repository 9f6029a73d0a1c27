// SPDX-License-Identifier: Apache-2.0
// atom_tma_wide_stride.cpp  Rows of 2^41 bytes: a tensor map has strides below 2^40.
// expect-error: TW0305_tma_stride_is_not_below_2_to_the_40_bytes
// max lines(g++): 12
// max lines(nvcc): 17
#include "tilewright/atom/tma_params.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout matrix = "(1024,64):(1099511627776,1)"_L;
#else
constexpr layout matrix = "(1024,64):(274877906944,1)"_L;
#endif
[[maybe_unused]] constexpr tma_params p =
    make_tma_params(matrix, "(64,64):(64,1)"_L, tile(64, 64), 16);
