// SPDX-License-Identifier: Apache-2.0
// atom_tma_stride.cpp  TMA of rows that are 1000 bytes apart.
// expect-error: TW0248_tma_stride_is_no_multiple_of_16_bytes
// expect-error: 8000128
// max lines(g++): 11
// max lines(nvcc): 13
#include "tilewright/atom/tma_params.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout matrix = "(1024,500):(500,1)"_L;
#else
constexpr layout matrix = "(1024,504):(504,1)"_L;
#endif
[[maybe_unused]] constexpr tma_params p =
    make_tma_params(matrix, "(64,64):(64,1)"_L, tile(64, 64), 16);
