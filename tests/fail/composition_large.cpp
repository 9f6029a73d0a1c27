// SPDX-License-Identifier: Apache-2.0
// composition_large.cpp  Numbers too large for got * 1000000 + need in 32 bits.
// expect-error: TW0104_composition_stride_of_B_and_extent_of_A_do_not_divide
// expect-error: 1638424576
// max lines(nvcc): 13
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = composition("(24576,4):(1,32768)"_L, "4:16384"_L);
#else
[[maybe_unused]] constexpr layout result = composition("(24576,4):(1,32768)"_L, "3:8192"_L);
#endif
