// SPDX-License-Identifier: Apache-2.0
// atom_tma_narrow.cpp  Rows of 64 bytes under a swizzle whose rows are 128 bytes apart.
// expect-error: TW0165_layout_is_not_one_that_the_hardware_reads_or_writes
// expect-error: 64000128
// max lines(g++): 12
// max lines(nvcc): 17
#include "tilewright/atom/tma_params.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout rows = "Sw<3,3,3> o 0 o (4,32):(32,1)"_L;
#else
constexpr layout rows = "Sw<3,3,3> o 0 o (4,32):(64,1)"_L;
#endif
[[maybe_unused]] constexpr tma_params p =
    make_tma_params("(128,128):(128,1)"_L, rows, tile(4, 32), 16);
