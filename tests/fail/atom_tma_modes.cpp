// SPDX-License-Identifier: Apache-2.0
// atom_tma_modes.cpp  TMA of six modes.
// expect-error: TW0249_tma_needs_more_than_five_modes
// expect-error: 6000005
// max lines(g++): 11
// max lines(nvcc): 17
#include "tilewright/atom/tma_params.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout data = "(64,32,16,8,4,2):(1,72,2560,43008,400000,1700000)"_L;
constexpr tma_params p =
    make_tma_params(data, "(16,2,2,2,2,2):(1,16,32,64,128,256)"_L, tile(16, 2, 2, 2, 2, 2), 16);
#else
constexpr layout data = "(64,32,16,8,4):(1,72,2560,43008,400000)"_L;
constexpr tma_params p =
    make_tma_params(data, "(16,2,2,2,2):(1,16,32,64,128)"_L, tile(16, 2, 2, 2, 2), 16);
static_assert(p.dims == 5);
#endif
